// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// clusterd.v1.ServerService: what the daemon tells of itself.
public struct ServerService: Sendable {
    public static let serverName = "clusterd"
    public static let version = Release.version

    private let limits: @Sendable () -> Limits
    private let metrics: Metrics
    private let started: UInt64
    /// Whether the daemon serves; false while it shuts down.
    private let isServing: @Sendable () -> Bool
    /// The sources' descriptions in short, for `GetStats`.
    private let sources: @Sendable () -> [SourceStatistics]
    private let updates: @Sendable () -> (followed: Int, rebuilt: Int)
    private let caches:
        @Sendable () -> (
            filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics
        )

    /// What `GetStats` tells of a source.
    public struct SourceStatistics: Sendable {
        public var name: String
        public var points: Int
        public var memoryBytes: Int
        public var revision: Int64

        public init(name: String, points: Int, memoryBytes: Int, revision: Int64) {
            self.name = name
            self.points = points
            self.memoryBytes = memoryBytes
            self.revision = revision
        }
    }

    public init(
        limits: @escaping @Sendable () -> Limits, metrics: Metrics, isServing: @escaping @Sendable () -> Bool,
        sources: @escaping @Sendable () -> [SourceStatistics],
        caches:
            @escaping @Sendable () -> (
                filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics
            ),
        updates: @escaping @Sendable () -> (followed: Int, rebuilt: Int)
    ) {
        self.limits = limits
        self.metrics = metrics
        self.isServing = isServing
        self.sources = sources
        self.caches = caches
        self.updates = updates
        started = MonotonicClock.now()
    }

    public var handlers: MethodHandlers {
        [
            "clusterd.v1.ServerService/Check": .unary(Check(service: self)),
            "clusterd.v1.ServerService/GetServerInfo": .unary(GetServerInfo(service: self)),
            "clusterd.v1.ServerService/GetStats": .unary(GetStats(service: self)),
        ]
    }

    private var uptimeSeconds: Double {
        (Double(MonotonicClock.now() - started) / 1e6).rounded() / 1e3
    }

    private struct Check: UnaryHandler {
        let service: ServerService

        func placement(_ params: Params) throws(RPCError) -> Placement {
            try params.rejectUnknown([])
            return .loop
        }

        func answer(_ params: Params, _ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
            bytes.append(service.isServing() ? "{\"status\":\"SERVING\"}" : "{\"status\":\"NOT_SERVING\"}")
        }
    }

    private struct GetServerInfo: UnaryHandler {
        let service: ServerService

        func placement(_ params: Params) throws(RPCError) -> Placement {
            try params.rejectUnknown([])
            return .loop
        }

        func answer(_ params: Params, _ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
            let methods = MethodTable.methods.map { method in
                JSONValue.object([
                    "name": .string(method.fullName), "kind": .string(method.kind.rawValue),
                    "summary": .string(method.summary),
                ])
            }
            bytes.append(
                .object([
                    "name": .string(ServerService.serverName), "version": .string(ServerService.version),
                    "uptimeSeconds": .number(service.uptimeSeconds), "limits": .object(service.limits().json),
                    "methods": .array(methods),
                ]))
        }
    }

    private struct GetStats: UnaryHandler {
        let service: ServerService

        func placement(_ params: Params) throws(RPCError) -> Placement {
            try params.rejectUnknown(["format"])
            return .loop
        }

        func answer(_ params: Params, _ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
            let statistics = Statistics(
                counters: service.metrics.counters, sources: service.sources(), caches: service.caches(),
                updates: service.updates(),
                uptimeSeconds: service.uptimeSeconds, memoryBytes: ProcessMemory.residentBytes())
            switch try params.optionalString("format") ?? "json" {
            case "json": bytes.append(.object(statistics.json))
            case "prometheus": bytes.append(.object(["text": .string(statistics.prometheus)]))
            default: throw .invalidParam(params.path(of: "format"), "must be \"json\" or \"prometheus\".")
            }
        }
    }
}
