// SPDX-License-Identifier: MIT
import Synchronization

/// Counts the bytes that clients' input holds, over all connections. Safe from any thread.
package final class InputBudget: Sendable {
    package enum Part: Sendable {
        /// Incomplete messages, the memory of messages that are being read, and the params of open calls.
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

    /// Whether a user's connections hold too much: the total exceeds the limit, and the user's share exceeds the
    /// user's part of it.
    package func isExceeded(by share: UserShare, limit: Int) -> Bool {
        bytes > limit && share.input(part) > limit / Self.usersPart
    }

    /// The part of the limit that each user has, as a divisor.
    private static let usersPart = 8
}
