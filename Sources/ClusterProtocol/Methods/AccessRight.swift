// SPDX-License-Identifier: MIT

/// What a caller may do. A higher right includes those below it.
public enum AccessRight: Int, Sendable, Comparable, CaseIterable {
    /// Only `Check`, which anybody may call who can open the socket.
    case none
    /// Ask what sources hold.
    case query
    /// Make, fill, change and delete sources, except those that the configuration declares.
    case manage
    /// Everything, declared sources too, and without the limits of one user.
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

    /// The right of a name; nil if no right has that name.
    public init?(name: String) {
        guard let right = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = right
    }

    /// The answer to a caller who lacks this right.
    public func denial(of method: MethodDeclaration) -> RPCError {
        RPCError(
            .permissionDenied,
            "\(method.shortName) needs the right \"\(name)\", which your user does not have. The administrator of clusterd grants it in the configuration, under access.\(name).",
            details: ["right": .string(name)])
    }
}
