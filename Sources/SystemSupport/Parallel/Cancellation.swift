// SPDX-License-Identifier: MIT

/// Tells running work whether anyone still waits for it, and who.
public struct Cancellation: Sendable {
    /// A number that identifies the waiting user; nil for the program itself. Work of different users need not wait for
    /// each other.
    public let user: UInt64?
    private let check: @Sendable () -> Bool

    /// - Parameter check: called from any thread, many times a second. Once true, it must stay true.
    public init(of user: UInt64? = nil, _ check: @escaping @Sendable () -> Bool) {
        self.user = user
        self.check = check
    }

    /// Work that cannot be cancelled.
    public static let never = Cancellation { false }

    public var isCancelled: Bool { check() }
}
