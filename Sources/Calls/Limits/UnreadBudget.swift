// SPDX-License-Identifier: MIT
import Synchronization

/// How many bytes of answers wait for all clients together to read them. Safe from any thread.
///
/// A user whose clients read is not stopped by what others leave unread: below its own part of the limit a user can
/// always be answered, whatever the sum.
package final class UnreadBudget: Sendable {
    private let waiting = Atomic<Int>(0)
    private let limit: Int
    /// Answers up to this size are always made, whatever waits: the system's own buffers hold as much.
    package static let reserve = 64 << 10

    package init(limit: Int) { self.limit = limit }

    package var bytes: Int { waiting.load(ordering: .relaxed) }

    /// Whether more waits than should.
    package var isSpent: Bool { bytes >= limit }

    /// Whether a user has to wait until clients have read before a large answer of it is begun.
    package func isSpent(for share: UserShare) -> Bool { isSpent && share.unread >= limit / Self.usersPart }

    /// The part of the limit that a user has for itself, as a divisor.
    private static let usersPart = 4

    /// Bytes that wait, counted for as long as this object lives.
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
