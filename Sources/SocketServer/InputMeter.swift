// SPDX-License-Identifier: MIT
import RPC

/// Counts what one connection's messages hold before they are answered, in the budget of all connections. Set
/// both counts to 0 before releasing it.
struct InputMeter {
    private let budget: InputBudget
    private let share: UserShare
    private var unfinished = 0
    private var large = 0

    init(_ budget: InputBudget, _ share: UserShare) {
        self.budget = budget
        self.share = share
    }

    var bytes: Int { unfinished + large }

    /// Sets the bytes of an incomplete message.
    mutating func set(unfinished count: Int) {
        guard count != unfinished else { return }
        budget.add(count - unfinished, of: share)
        unfinished = count
    }

    /// Sets the memory that a large message uses while it is read.
    mutating func set(large count: Int) {
        guard count != large else { return }
        budget.add(count - large, of: share)
        large = count
    }
}
