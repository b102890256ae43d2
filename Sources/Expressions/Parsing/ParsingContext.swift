// SPDX-License-Identifier: MIT
import JSON

/// A position within an expression, the type expected there, and the errors found so far.
struct ParsingContext {
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
        purpose: ExpressionPurpose, expected: ExpressionType?, isCancelled: (@Sendable () -> Bool)? = nil
    ) {
        self.init(
            purpose: purpose, path: [], expected: expected, scope: ParsingScope(), errors: ErrorList(),
            budget: ParsingBudget(isCancelled: isCancelled))
    }

    private init(
        purpose: ExpressionPurpose, path: [Int], expected: ExpressionType?, scope: ParsingScope,
        errors: ErrorList,
        budget: ParsingBudget
    ) {
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
            purpose: purpose, path: path + [index], expected: type,
            scope: binding.isEmpty ? scope : scope.adding(binding), errors: errors, budget: budget)
    }

    /// The same position without an expected type and with its own list of errors, for trying a signature.
    func trial() -> ParsingContext {
        ParsingContext(
            purpose: purpose, path: path, expected: nil, scope: scope, errors: ErrorList(), budget: budget)
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
