// SPDX-License-Identifier: MIT
import Synchronization

/// Limits how many loops poll at the same time, so that processors are left for other threads. Safe from any thread.
public final class PollingBudget: Sendable {
    private let left: Atomic<Int>

    /// - Parameter loops: how many loops may poll at once.
    public init(loops: Int) { left = Atomic(max(0, loops)) }

    /// Takes a loop's part; false if there is none left.
    func take() -> Bool {
        if left.subtract(1, ordering: .relaxed).newValue >= 0 { return true }
        giveBack()
        return false
    }

    func giveBack() { left.add(1, ordering: .relaxed) }
}
