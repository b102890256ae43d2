// SPDX-License-Identifier: MIT
import Calls

/// What one connection's messages hold before they are answered, counted in the budget of all. To be set to nothing
/// before it goes.
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

    /// Bytes of a message that is not whole yet.
    mutating func set(unfinished count: Int) {
        guard count != unfinished else { return }
        budget.add(count - unfinished, of: share)
        unfinished = count
    }

    /// Memory that a large message takes while it is read.
    mutating func set(large count: Int) {
        guard count != large else { return }
        budget.add(count - large, of: share)
        large = count
    }
}
