// SPDX-License-Identifier: MIT
import Synchronization

/// Counts the bytes of answers that wait until clients read them. Safe from any thread.
///
/// What other users' clients leave unread does not stop a user whose clients read: below its own part of the
/// limit a user is always answered, whatever the total.
package final class UnreadBudget: Sendable {
    private let waiting = Atomic<Int>(0)
    private let limit: Int
    /// Answers up to this size are always written, whatever the total: the system's own buffers hold as much.
    package static let reserve = 64 << 10

    package init(limit: Int) { self.limit = limit }

    package var bytes: Int { waiting.load(ordering: .relaxed) }

    /// Whether the limit is reached.
    package var isSpent: Bool { bytes >= limit }

    /// Whether the user's clients must read before a large answer for the user is begun.
    package func isSpent(for share: UserShare) -> Bool { isSpent && share.unread >= limit / Self.usersPart }

    /// The part of the limit that each user has, as a divisor.
    private static let usersPart = 4

    /// Waiting bytes, counted for as long as this object lives.
    package final class Claim {
        private let count: Int
        private let share: UserShare
        private let budget: UnreadBudget

        package init(_ count: Int, of share: UserShare, in budget: UnreadBudget) {
            self.count = count
            self.share = share
            self.budget = budget
            budget.waiting.add(count, ordering: .relaxed)
            share.addUnread(count)
        }

        deinit {
            budget.waiting.subtract(count, ordering: .relaxed)
            share.addUnread(-count)
        }
    }
}
