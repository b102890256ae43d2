// SPDX-License-Identifier: MIT

/// Tells work under way whether anyone still waits for it.
public struct Cancellation: Sendable {
    private let check: @Sendable () -> Bool

    /// - Parameter check: asked from any thread, many times a second; once true it has to stay so.
    public init(_ check: @escaping @Sendable () -> Bool) {
        self.check = check
    }

    /// Work that nobody can call off.
    public static let never = Cancellation { false }

    public var isCancelled: Bool { check() }
}
