// SPDX-License-Identifier: MIT
import JSON

/// Everything about a method except its implementation: dispatch, rights, `GetServerInfo`, the metrics, the
/// documentation and `clusterctl` derive from it.
public struct MethodDeclaration: Sendable {
    public enum Service: String, Sendable, CaseIterable {
        case cluster = "ClusterService"
        case source = "SourceService"
        case server = "ServerService"
    }

    /// Which sides stream.
    public enum Kind: String, Sendable {
        case unary
        case clientStream = "client stream"
        case serverStream = "server stream"
        case both

        /// Whether the client sends items.
        public var takesItems: Bool { self == .clientStream || self == .both }
    }

    /// Which threads run the method.
    public enum Threads: Sendable {
        /// Always the loop's thread: the method takes a few microseconds.
        case loop
        /// The loop's thread if the call is short, else one of `limits.queryThreads`.
        case query
        /// One of `limits.changeThreads`.
        case change
    }

    public let service: Service
    public let name: String
    public let kind: Kind
    /// The right that the caller needs.
    public let right: AccessRight
    public let threads: Threads
    /// The params that it takes.
    public let params: [ParamDeclaration]
    /// Their names.
    public let paramNames: [String]
    /// The members of an item that the client streams.
    public let items: [ParamDeclaration]
    /// Whether answers show clusters and counts only once the view has hidden those of few points. A caller who may
    /// see no single feature is denied every other method of a source.
    public let showsClustersOnly: Bool
    /// What the method does, in one sentence.
    public let summary: String
    /// The method's name in an envelope, such as `clusterd.v1.ClusterService/GetClusters`.
    public let fullName: String

    public init(
        _ service: Service, _ name: String, _ kind: Kind = .unary, right: AccessRight, on threads: Threads,
        params: [ParamDeclaration], items: [ParamDeclaration] = [], showsClustersOnly: Bool = false, _ summary: String
    ) {
        self.service = service
        self.name = name
        self.kind = kind
        self.right = right
        self.threads = threads
        self.params = params
        self.items = items
        self.showsClustersOnly = showsClustersOnly
        self.summary = summary
        paramNames = params.map(\.name)
        textParams = params.filter(\.type.needsText)
        fullName = "\(Self.package).\(service.rawValue)/\(name)"
    }

    /// The package of all methods, which includes the protocol's version.
    public static let package = "clusterd.v1"

    private static let names = all.map { (bytes: Array($0.fullName.utf8), name: $0.fullName) }

    /// The name of a declared method that a message has, without a new string; nil for other names.
    static func name(_ element: JSONElement) -> String? {
        names.first { element.isString($0.bytes) }?.name
    }

    /// The name without the package, such as `ClusterService/GetClusters`.
    public var shortName: String { "\(service.rawValue)/\(name)" }

    /// Whether it takes a param, of those that are declared once: others may have its name.
    public func takes(_ param: ParamDeclaration) -> Bool { params.contains { $0 === param } }

    /// The params that are read from their text as sent: if a call has one, its params' text is kept besides the values.
    public let textParams: [ParamDeclaration]

    /// The params of all methods, and the members of their items, for `scripts/generate-params`.
    public static var params: JSONValue {
        .array(
            all.map { method in
                .object([
                    "method": .string(method.name), "params": .array(method.params.map(\.json)),
                    "items": .array(method.items.map(\.json)),
                ])
            })
    }

    /// Whether the client streams items of which none may be missing. A viewport supersedes earlier ones.
    public var needsEveryItem: Bool { kind.takesItems && isChange }

    /// Whether it changes sources: such calls are written to the audit log.
    public var isChange: Bool { right >= .manage }
}

/// What a caller may do. A higher right includes those below it.
public enum AccessRight: Sendable, Comparable, CaseIterable {
    /// Call only `Check`, which anybody who can open the socket may call.
    case none
    /// Query sources.
    case query
    /// Create, fill, change and delete sources, except those declared in the configuration.
    case manage
    /// Everything, including declared sources, and without the limits per user.
    case admin

    public var name: String { "\(self)" }

    /// The right with a name; nil if there is none.
    public init?(name: String) {
        guard let right = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = right
    }
}
