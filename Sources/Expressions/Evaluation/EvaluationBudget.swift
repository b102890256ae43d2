// SPDX-License-Identifier: MIT
import Synchronization

/// The number of steps that evaluating an expression may take, and a check for cancellation.
///
/// A step is one evaluated operator, or 64 bytes of text that an operator reads; it takes about 0.1 µs. Threads that
/// evaluate the same expression for different rows share one budget. They check for cancellation at least every
/// `portion` steps, also within a row.
public final class EvaluationBudget: Sendable {
    /// The steps that a thread takes from the budget at once: about 0.1 ms of work.
    static let portion = 1024

    /// The steps of the whole budget.
    public let steps: Int
    private let left: Atomic<Int>
    private let wasCancelled = Atomic(false)
    public let isCancelled: @Sendable () -> Bool

    /// - Parameters:
    ///   - steps: the steps of all rows together. Unlimited by default; the limit of each row still applies.
    ///   - isCancelled: called from any thread, up to a few thousand times per second. Once true it must stay true.
    public init(steps: Int = .max, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.steps = steps
        left = Atomic(steps)
        self.isCancelled = isCancelled
    }

    /// Takes steps from the budget. Returns false if the evaluation must stop.
    func take(_ count: Int) -> Bool {
        if isCancelled() {
            wasCancelled.store(true, ordering: .relaxed)
            return false
        }
        guard steps != .max else { return true }
        // The count cannot wrap around: no thread takes more once it is negative, and there are few threads.
        guard left.load(ordering: .relaxed) >= 0 else { return false }
        return left.subtract(count, ordering: .relaxed).newValue >= 0
    }

    /// Throws if the evaluation was cancelled or the budget is used up.
    public func check() throws(EvaluationStop) {
        if wasCancelled.load(ordering: .relaxed) || isCancelled() { throw .cancelled }
        if left.load(ordering: .relaxed) < 0 { throw .exhausted(steps: steps) }
    }
}
