// SPDX-License-Identifier: MIT

/// Shows running work whether anyone still waits for it, and who.
public struct Cancellation: Sendable {
    /// A number of the user who waits; nil: the program itself. Work of different users need not wait for each other.
    public let user: UInt64?
    private let check: @Sendable () -> Bool

    /// - Parameter check: asked from any thread, many times a second; once true it has to stay so.
    public init(of user: UInt64? = nil, _ check: @escaping @Sendable () -> Bool) {
        self.user = user
        self.check = check
    }

    /// Work that nobody can call off.
    public static let never = Cancellation { false }

    public var isCancelled: Bool { check() }
}
