// SPDX-License-Identifier: MIT
import ClusterProtocol

/// What a caller may do. A higher right includes those below it.
public enum AccessRight: Int, Sendable, Comparable, CaseIterable {
    /// Only `Check`, which anybody may call who can open the socket.
    case none
    /// Ask what sources hold.
    case query
    /// Make, fill, change and delete sources, those apart that the configuration declares.
    case manage
    /// All of it, declared sources too, and without the limits of one user.
    case admin

    public static func < (a: AccessRight, b: AccessRight) -> Bool { a.rawValue < b.rawValue }

    public var name: String {
        switch self {
        case .none: "none"
        case .query: "query"
        case .manage: "manage"
        case .admin: "admin"
        }
    }

    /// The right that a method asks for, by its full name. Unknown methods ask for `query`.
    public static func needed(for method: String) -> AccessRight {
        if method.hasSameBytes(as: check) { return .none }
        return changing.contains(method) ? .manage : .query
    }

    private static let check = "\(MethodTable.package).ServerService/Check"

    private static let changing: Set<String> = Set(
        [
            "CreateSource", "ImportFeatures", "LoadFile", "UpdateFeatures", "UpdateOptions", "DeleteSource",
        ].map { "\(MethodTable.package).SourceService/\($0)" })

    /// The answer to a caller who lacks this right.
    package func denial(of method: String) -> RPCError {
        let short = method.split(separator: ".").last.map(String.init) ?? method
        return RPCError(
            .permissionDenied,
            "\(short) needs the right \"\(name)\", which your user does not have. Whoever runs clusterd grants it in the configuration, under access.\(name).",
            details: ["right": .string(name)])
    }
}
