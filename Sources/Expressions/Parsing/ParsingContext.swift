// SPDX-License-Identifier: MIT
import JSON

/// A position within an expression, the type expected there, and the errors found so far.
struct ParsingContext {
    let operators: OperatorSet
    let purpose: ExpressionPurpose
    let path: [Int]
    let expected: ExpressionType?
    let scope: ParsingScope
    let errors: ErrorList
    let budget: ParsingBudget

    /// How a value of unknown type gets the expected type.
    enum Annotation {
        case assert, coerce, omit
    }

    /// The context of a whole expression.
    init(
        operators: OperatorSet, purpose: ExpressionPurpose, expected: ExpressionType?,
        isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(
            operators: operators, purpose: purpose, path: [], expected: expected, scope: ParsingScope(),
            errors: ErrorList(),
            budget: ParsingBudget(isCancelled: isCancelled))
    }

    private init(
        operators: OperatorSet, purpose: ExpressionPurpose, path: [Int], expected: ExpressionType?,
        scope: ParsingScope,
        errors: ErrorList,
        budget: ParsingBudget
    ) {
        self.operators = operators
        self.purpose = purpose
        self.path = path
        self.expected = expected
        self.scope = scope
        self.errors = errors
        self.budget = budget
    }

    /// The context of an operand.
    func at(_ index: Int, expecting type: ExpressionType? = nil, binding: [(name: String, value: Node)] = [])
        -> ParsingContext
    {
        ParsingContext(
            operators: operators, purpose: purpose, path: path + [index], expected: type,
            scope: binding.isEmpty ? scope : scope.adding(binding), errors: errors, budget: budget)
    }

    /// The same position without an expected type and with its own list of errors, for trying a signature.
    func trial() -> ParsingContext {
        ParsingContext(
            operators: operators, purpose: purpose, path: path, expected: nil, scope: scope,
            errors: ErrorList(), budget: budget)
    }

    /// Parses an operand.
    func parse(
        _ value: JSONValue, _ index: Int, expecting type: ExpressionType? = nil,
        annotation: Annotation = .assert,
        binding: [(name: String, value: Node)] = []
    ) -> Node? {
        at(index, expecting: type, binding: binding).parseHere(value, annotation: annotation)
    }

    /// Records an error here, or at an index within, and returns nil.
    func fail(_ message: String, _ keys: Int...) -> Node? {
        note(message, keys)
        return nil
    }

    func note(_ message: String, _ keys: [Int] = []) {
        let key = (path + keys).map { "[\($0)]" }.joined()
        errors.list.append(ExpressionError(key: key, message: message))
    }

    /// Records an error if a type does not fit.
    func check(_ expected: ExpressionType, accepts actual: ExpressionType) -> Bool {
        guard let message = expected.mismatch(actual) else { return true }
        note(message)
        return false
    }

    /// The expected type, unless any value is expected.
    var outputType: ExpressionType? { expected == .value ? nil : expected }
}

/// The variables bound at a position, the innermost last.
struct ParsingScope {
    private var bindings: [(name: String, value: Node)] = []

    func adding(_ more: [(name: String, value: Node)]) -> ParsingScope {
        var scope = self
        scope.bindings += more
        return scope
    }

    subscript(name: String) -> Node? {
        bindings.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}

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

/// The errors of a context and of the contexts derived from it.
final class ErrorList {
    var list: [ExpressionError] = []
}
