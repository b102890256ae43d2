// SPDX-License-Identifier: MIT

/// All that is said of a method outside its own file: dispatch, rights, `GetServerInfo`, the metrics, the documents
/// and `clusterctl` derive from it.
public struct MethodDeclaration: Sendable, Equatable {
    public enum Service: String, Sendable, CaseIterable {
        case cluster = "ClusterService"
        case source = "SourceService"
        case server = "ServerService"
    }

    /// Who streams.
    public enum Kind: String, Sendable {
        case unary
        case clientStream = "client stream"
        case serverStream = "server stream"
        case both

        /// Whether the client sends items.
        public var takesItems: Bool { self == .clientStream || self == .both }
    }

    /// Which threads work for the method.
    public enum Threads: Sendable {
        /// The loop's, always: it takes some microseconds.
        case loop
        /// The loop's if the call is short, else one of `limits.queryThreads`.
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
    /// The names of the params that it takes.
    public let params: [String]
    /// Whether params are kept as they were sent, besides the parsed values: for features, whose text is stored.
    public let keepsParamsText: Bool
    /// Arrays among the params of which only the text is read: large ones, which parsed would take many times as much
    /// memory. In the parsed params they are empty.
    public let textParams: [String]
    /// What it does, in a sentence.
    public let summary: String
    /// As it stands in an envelope, such as `clusterd.v1.ClusterService/GetClusters`.
    public let fullName: String

    public init(
        _ service: Service, _ name: String, _ kind: Kind = .unary, right: AccessRight, on threads: Threads,
        params: [String], keepsParamsText: Bool = false, textParams: [String] = [],
        _ summary: String
    ) {
        self.service = service
        self.name = name
        self.kind = kind
        self.right = right
        self.threads = threads
        self.params = params
        self.keepsParamsText = keepsParamsText
        self.textParams = textParams
        self.summary = summary
        fullName = "\(Self.package).\(service.rawValue)/\(name)"
    }

    /// The package of all methods, with the protocol's version.
    public static let package = "clusterd.v1"

    /// Such as `ClusterService/GetClusters`.
    public var shortName: String { "\(service.rawValue)/\(name)" }

    /// Whether it changes sources: such calls are written to the audit log.
    public var isChange: Bool { right >= .manage }
}
