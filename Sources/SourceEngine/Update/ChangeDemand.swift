// SPDX-License-Identifier: MIT
import Synchronization

/// Tells work in the background whether a source is being changed. Safe from any thread.
final class ChangeDemand: Sendable {
    private let running = Atomic<Int>(0)
    private let count = Atomic<Int>(0)

    func begin() {
        running.add(1, ordering: .relaxed)
        count.add(1, ordering: .relaxed)
    }

    /// Whether a change is being made, or waits for another.
    var isRunning: Bool { running.load(ordering: .relaxed) > 0 }

    func end() { running.subtract(1, ordering: .relaxed) }

    /// A number that is greater than at the last look if a change has begun since, or has not ended: the longer one waits for the
    /// disk, the longer others have to leave it alone.
    func look() -> Int {
        guard running.load(ordering: .relaxed) > 0 else { return count.load(ordering: .relaxed) }
        return count.add(1, ordering: .relaxed).newValue
    }
}
