// SPDX-License-Identifier: MIT
import Synchronization

/// How many bytes wait for all clients together. Safe from any thread; two loops that look at the same moment
/// may pass the limit by an answer each.
final class QueueBudget: Sendable {
    private let waiting = Atomic<Int>(0)
    private let limit: Int
    /// What every connection may have waiting even where the budget is spent.
    static let reserve = 64 << 10

    init(limit: Int) { self.limit = limit }

    var bytes: Int { waiting.load(ordering: .relaxed) }

    var isSpent: Bool { bytes >= limit }

    /// How large an answer may become that is begun now.
    func allowance(upTo most: Int) -> Int { min(most, max(Self.reserve, limit - bytes)) }

    /// Whether an answer of this size can wait for its client.
    func hasRoom(for count: Int) -> Bool { count <= Self.reserve || bytes + count <= limit }

    fileprivate func take(_ count: Int) { waiting.add(count, ordering: .relaxed) }
    fileprivate func giveBack(_ count: Int) { waiting.subtract(count, ordering: .relaxed) }
}

/// Bytes in libuv's hands, counted until it lets go of them.
final class QueuedBytes {
    private let keeper: OutgoingBytes
    private let count: Int
    private let budget: QueueBudget

    init(_ keeper: OutgoingBytes, _ count: Int, _ budget: QueueBudget) {
        self.keeper = keeper
        self.count = count
        self.budget = budget
        budget.take(count)
    }

    deinit { budget.giveBack(count) }
}
