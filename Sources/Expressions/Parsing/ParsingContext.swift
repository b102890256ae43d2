// SPDX-License-Identifier: MIT
import JSON

/// Where in an expression parsing is, what is expected there, and what went wrong so far.
struct ParsingContext {
    let purpose: ExpressionPurpose
    let path: [Int]
    let expected: ExpressionType?
    let scope: ParsingScope
    let errors: ErrorList
    let budget: ParsingBudget

    /// How a value of unknown type is made the expected one.
    enum Annotation {
        case assert, coerce, omit
    }

    /// A context for the whole of an expression.
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

    /// The context of a part.
    func at(_ index: Int, expecting type: ExpressionType? = nil, binding: [(name: String, value: Node)] = [])
        -> ParsingContext
    {
        ParsingContext(
            purpose: purpose, path: path + [index], expected: type,
            scope: binding.isEmpty ? scope : scope.adding(binding), errors: errors, budget: budget)
    }

    /// The same place with nothing expected and errors kept apart, for trying a signature.
    func trial() -> ParsingContext {
        ParsingContext(
            purpose: purpose, path: path, expected: nil, scope: scope, errors: ErrorList(), budget: budget)
    }

    /// Parses a part.
    func parse(
        _ value: JSONValue, _ index: Int, expecting type: ExpressionType? = nil,
        annotation: Annotation = .assert,
        binding: [(name: String, value: Node)] = []
    ) -> Node? {
        at(index, expecting: type, binding: binding).parseHere(value, annotation: annotation)
    }

    /// Notes an error here, or at a place within, and gives nil.
    func fail(_ message: String, _ keys: Int...) -> Node? {
        note(message, keys)
        return nil
    }

    func note(_ message: String, _ keys: [Int] = []) {
        let key = (path + keys).map { "[\($0)]" }.joined()
        errors.list.append(ExpressionError(key: key, message: message))
    }

    /// Notes where a type does not fit.
    func check(_ expected: ExpressionType, accepts actual: ExpressionType) -> Bool {
        guard let message = expected.mismatch(actual) else { return true }
        note(message)
        return false
    }

    /// The expected type where it says anything.
    var outputType: ExpressionType? { expected == .value ? nil : expected }
}

/// Errors of a context and of those made from it.
final class ErrorList {
    var list: [ExpressionError] = []
}

/// How much work an expression may still make.
final class ParsingBudget {
    private var parses = 0
    private(set) var isSpent = false
    /// True ends parsing.
    let isCancelled: (@Sendable () -> Bool)?

    init(isCancelled: (@Sendable () -> Bool)?) {
        self.isCancelled = isCancelled
    }

    /// Counts one attempt; false where there were too many.
    func spend() -> Bool {
        parses += 1
        if parses & 0x3f == 0 { stopIfCancelled() }
        if parses > ExpressionLimits.parses { isSpent = true }
        return !isSpent
    }

    /// Whether parsing may go on; nothing may afterwards where it may not.
    @discardableResult func stopIfCancelled() -> Bool {
        if !isSpent, let isCancelled, isCancelled() { isSpent = true }
        return !isSpent
    }
}

/// What an expression is for: it decides what it may use.
public enum ExpressionPurpose: Sendable {
    /// Features are told apart by it; it may use the zoom.
    case filter
    /// One point's value; neither zoom nor accumulated value.
    case map
    /// Folding aggregated values; no zoom.
    case reduce
    /// Trying out: all of the language.
    case evaluation

    var mayUseZoom: Bool { self == .filter || self == .evaluation }
    var mayUseAccumulated: Bool { self == .reduce || self == .evaluation }
}
