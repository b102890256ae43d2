// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine

/// `Check`: reports whether the daemon serves, as gRPC's health service does.
struct Check: UnaryMethod {
    let declaration = MethodDeclaration.check
    let status: ServerStatus

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        PreparedAnswer(isQuick: true) { [status] (_, bytes) throws(RPCError) in
            bytes.append(status.isServing ? "{\"status\":\"SERVING\"}" : "{\"status\":\"NOT_SERVING\"}")
        }
    }
}

/// `GetServerInfo`: returns name, version, limits and methods.
struct GetServerInfo: UnaryMethod {
    let declaration = MethodDeclaration.getServerInfo
    let status: ServerStatus
    let settings: LiveSettings

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        // An error of the configuration may name sources.
        let lastReload = status.lastReload(withError: params.access == nil)
        return PreparedAnswer(isQuick: true) { [status, settings] (_, bytes) throws(RPCError) in
            bytes.append(
                .object([
                    "name": .string(ServerStatus.serverName), "version": .string(Release.version),
                    "uptimeSeconds": .number(status.uptimeSeconds), "lastReload": lastReload,
                    "limits": .object(settings.values.limitsJSON), "methods": Self.methods,
                ]))
        }
    }

    private static let methods = JSONValue.array(
        MethodDeclaration.all.map { method in
            .object([
                "name": .string(method.fullName), "kind": .string(method.kind.rawValue),
                "right": .string(method.right.name),
                "params": .array(method.paramNames.map { .string($0) }), "summary": .string(method.summary),
            ])
        })
}

/// `GetStats`: returns counters, latencies, memory and sources.
struct GetStats: UnaryMethod {
    let declaration = MethodDeclaration.getStats
    let status: ServerStatus
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let isText = try params.word(.format, as: Format.self) == .prometheus
        let isRaw = isText && call.form == .raw
        return PreparedAnswer(isQuick: params.access == nil) { [status, catalog] (call, bytes) throws(RPCError) in
            let statistics = Statistics(
                status, catalog.counts, try catalog.descriptions(for: params.access, withViews: true, call))
            if isRaw {
                bytes.append(raw: statistics.prometheus)
            } else {
                bytes.append(.object(isText ? ["text": .string(statistics.prometheus)] : statistics.json))
            }
        }
    }

    private enum Format: String { case json, prometheus }
}
