// SPDX-License-Identifier: MIT
import Synchronization

/// How many bytes clients' input holds, over all connections. Safe from any thread.
package final class InputBudget: Sendable {
    package enum Part: Sendable {
        /// Messages that are not whole yet, the memory of those that are being read, and params of calls that are open.
        case messages
        /// Items of streams that wait for the pool.
        case streams
    }

    private let part: Part
    private let held = Atomic<Int>(0)

    package init(_ part: Part) { self.part = part }

    package var bytes: Int { held.load(ordering: .relaxed) }

    package func add(_ count: Int, of share: UserShare) {
        held.add(count, ordering: .relaxed)
        share.addInput(count, part)
    }

    /// Whether a user's connections hold too much: more than all should, and more than the user's own part.
    package func isExceeded(by share: UserShare, limit: Int) -> Bool {
        bytes > limit && share.input(part) > limit / Self.usersPart
    }

    /// The part of the limit that a user has for itself, as a divisor.
    private static let usersPart = 8
}
