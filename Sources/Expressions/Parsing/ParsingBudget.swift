// SPDX-License-Identifier: MIT

/// The remaining budget for compiling an expression.
final class ParsingBudget {
    /// Evaluates constant parts.
    let constants: EvaluationContext
    private let budget: EvaluationBudget
    private var parses = 0
    private var bindings = 0
    private var isSpent = false

    init(isCancelled: (@Sendable () -> Bool)?) {
        budget = EvaluationBudget(
            steps: ExpressionLimits.constantSteps, isCancelled: isCancelled ?? { false })
        constants = EvaluationContext(budget: budget, rowLimit: .max)
    }

    /// Counts one attempt to parse a part; returns false if there were too many.
    func takeParse() -> Bool {
        parses += 1
        if parses > ExpressionLimits.parses { isSpent = true }
        return parses & 0x3f == 0 ? continues() : !isSpent
    }

    /// Whether parsing may continue. It checks for cancellation; once false, it stays false.
    func continues() -> Bool {
        if !isSpent, (try? budget.check()) == nil { isSpent = true }
        return !isSpent
    }

    /// The number of the next binding.
    func nextBinding() -> Int {
        defer { bindings += 1 }
        return bindings
    }
}
