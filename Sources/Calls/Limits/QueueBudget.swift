// SPDX-License-Identifier: MIT
import Synchronization

/// How many bytes wait for all clients together. Safe from any thread.
package final class QueueBudget: Sendable {
    private let waiting = Atomic<Int>(0)
    private let limit: Int
    /// What every connection may have waiting even where the budget is spent.
    package static let reserve = 64 << 10

    package init(limit: Int) { self.limit = limit }

    package var bytes: Int { waiting.load(ordering: .relaxed) }

    package var isSpent: Bool { bytes >= limit }
    package var isHalfEmpty: Bool { bytes <= limit / 2 }

    /// How large an answer may become that is begun now.
    package func allowance(upTo most: Int) -> Int { min(most, max(Self.reserve, limit - bytes)) }

    /// Room for an answer that may have to wait for its client, given back with the claim; nil where there
    /// is none. Two loops that ask at the same moment never get more than there is.
    package func claim(_ count: Int) -> Claim? {
        var seen = bytes
        while true {
            let (sum, overflow) = seen.addingReportingOverflow(count)
            guard !overflow, count <= Self.reserve || sum <= limit else { return nil }
            let outcome = waiting.weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if outcome.exchanged { return Claim(count, taken: self) }
            seen = outcome.original
        }
    }

    package final class Claim {
        private let count: Int
        private let budget: QueueBudget

        /// Counts bytes that wait whether there is room or not.
        fileprivate init(_ count: Int, _ budget: QueueBudget) {
            self.count = count
            self.budget = budget
            budget.take(count)
        }

        fileprivate init(_ count: Int, taken budget: QueueBudget) {
            self.count = count
            self.budget = budget
        }

        deinit { budget.giveBack(count) }
    }

    fileprivate func take(_ count: Int) { waiting.add(count, ordering: .relaxed) }
    fileprivate func giveBack(_ count: Int) { waiting.subtract(count, ordering: .relaxed) }
}

/// Bytes in libuv's hands, counted until it lets go of them.
package final class QueuedBytes {
    private let keeper: OutgoingBytes
    private let claim: QueueBudget.Claim

    package init(_ keeper: OutgoingBytes, _ count: Int, _ budget: QueueBudget) {
        self.keeper = keeper
        claim = QueueBudget.Claim(count, budget)
    }
}
