// SPDX-License-Identifier: MIT
import Synchronization

/// How many bytes all connections' messages hold before they are answered: those that are not whole yet, and the
/// memory of those that are being read. Safe from any thread.
package final class InputBudget: Sendable {
    private let held = Atomic<Int>(0)

    package init() {}

    package var bytes: Int { held.load(ordering: .relaxed) }

    package func add(_ count: Int, of share: UserShare) {
        held.add(count, ordering: .relaxed)
        share.addInput(count)
    }

    /// Whether a user's connections hold too much: more than all should, and more than the user's own part.
    package func isExceeded(by share: UserShare, limit: Int) -> Bool {
        bytes > limit && share.input > limit / Self.usersPart
    }

    /// The part of the limit that a user has for itself, as a divisor.
    private static let usersPart = 8
}
