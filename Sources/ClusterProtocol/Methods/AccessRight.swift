// SPDX-License-Identifier: MIT

/// What a caller may do. A higher right includes those below it.
public enum AccessRight: Int, Sendable, Comparable, CaseIterable {
    /// Call only `Check`, which anybody who can open the socket may call.
    case none
    /// Query sources.
    case query
    /// Create, fill, change and delete sources, except those declared in the configuration.
    case manage
    /// Everything, including declared sources, and without the limits per user.
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

    /// The right with a name; nil if there is none.
    public init?(name: String) {
        guard let right = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = right
    }
}
