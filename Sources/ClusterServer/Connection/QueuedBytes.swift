// SPDX-License-Identifier: MIT

/// How many bytes wait for all clients together. Belongs to the loop's thread.
final class QueueBudget {
    private(set) var bytes = 0
    private let limit: Int
    /// What every connection may have waiting even where the budget is spent.
    static let reserve = 64 << 10

    init(limit: Int) { self.limit = limit }

    var isSpent: Bool { bytes >= limit }

    /// How large an answer may become that is begun now.
    func allowance(upTo most: Int) -> Int { min(most, max(Self.reserve, limit - bytes)) }

    /// Whether an answer of this size can wait for its client.
    func hasRoom(for count: Int) -> Bool { count <= Self.reserve || bytes + count <= limit }

    fileprivate func take(_ count: Int) { bytes += count }
    fileprivate func giveBack(_ count: Int) { bytes -= count }
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
