// SPDX-License-Identifier: MIT
import JSON

/// A position within an expression, the type expected there, and the errors found so far.
struct ParsingContext {
    let operators: OperatorSet
    let purpose: ExpressionPurpose
    private(set) var path: [Int] = []
    private(set) var expected: ExpressionType?
    /// The variables bound here, the innermost last.
    private var bindings: [Binding] = []
    private(set) var errors = ErrorList()
    let budget: ParsingBudget

    typealias Binding = (name: String, value: ExpressionNode)

    /// How a value of unknown type gets the expected type.
    enum Annotation {
        case assert, coerce, omit
    }

    /// The context of a whole expression.
    init(
        operators: OperatorSet, purpose: ExpressionPurpose, expected: ExpressionType?,
        isCancelled: (@Sendable () -> Bool)?
    ) {
        (self.operators, self.purpose, self.expected) = (operators, purpose, expected)
        budget = ParsingBudget(isCancelled: isCancelled)
    }

    /// The context of an operand.
    func at(_ index: Int, expecting type: ExpressionType? = nil, binding: [Binding] = []) -> ParsingContext {
        var inner = self
        inner.path.append(index)
        inner.expected = type
        inner.bindings += binding
        return inner
    }

    /// The same position without an expected type and with its own list of errors, for trying a signature.
    func trial() -> ParsingContext {
        var trial = self
        (trial.expected, trial.errors) = (nil, ErrorList())
        return trial
    }

    /// Parses an operand.
    func parse(
        _ value: JSONValue, _ index: Int, expecting type: ExpressionType? = nil,
        annotation: Annotation = .assert, binding: [Binding] = []
    ) -> ExpressionNode? {
        at(index, expecting: type, binding: binding).parseHere(value, annotation: annotation)
    }

    /// Records an error here, or at an index within, and returns nil.
    func fail(_ message: String, _ keys: Int...) -> ExpressionNode? {
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

    /// The variable of a name.
    func variable(_ name: String) -> ExpressionNode? {
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

extension ParsingContext {
    /// Parses an expression, checks its type and evaluates it if it is constant.
    func parseHere(_ value: JSONValue, annotation: Annotation) -> ExpressionNode? {
        guard budget.takeParse() else {
            return errors.list.isEmpty ? fail("The expression is too complex.") : nil
        }
        guard path.count <= ExpressionLimits.depth else {
            return fail("Expressions may be nested \(ExpressionLimits.depth) levels deep at most.")
        }
        let items: [JSONValue]
        switch value {
        case .object(let object) where path.isEmpty && Self.isLegacyFunction(object):
            return fail(
                "Legacy function objects are not supported. Use \"interpolate\", \"step\", \"match\" or \"get\" "
                    + "instead.")
        case .object: return fail("Bare objects invalid. Use [\"literal\", {...}] instead.")
        case .array(let elements): items = elements
        default: items = [.string("literal"), value]
        }
        guard let first = items.first else {
            return fail(
                "Expected an array with at least one element. If you wanted a literal array, use [\"literal\", []].")
        }
        guard case .string(let name) = first else {
            return fail(
                "Expression name must be a string, but found \(first.javaScriptType) instead. "
                    + "If you wanted a literal array, use [\"literal\", [...]].", 0)
        }
        guard let parsed = parseOperator(name, items), let typed = typed(parsed, annotation) else {
            return nil
        }
        return folded(typed)
    }

    /// Whether an object is a function in the syntax that preceded expressions.
    private static func isLegacyFunction(_ object: JSONObject) -> Bool {
        object["stops"] != nil || object["property"] != nil
    }

    private func typed(_ node: ExpressionNode, _ annotation: Annotation) -> ExpressionNode? {
        guard let expected else { return node }
        if node.type == .value, expected.isAsserted {
            switch annotation {
            case .assert: return ExpressionNode(expected, .assertion, [node])
            case .coerce: return ExpressionNode(expected, .coercion, [node])
            case .omit: return node
            }
        }
        return check(expected, accepts: node.type) ? node : nil
    }

    /// The node's value as a literal if everything on which it depends is constant; otherwise the node itself.
    private func folded(_ node: ExpressionNode) -> ExpressionNode? {
        guard !node.isLiteral, node.isConstant else { return node }
        do throws(EvaluationError) {
            // A constant part may be a long text, so cancellation is checked before each.
            guard budget.continues() else { throw .stopped }
            return ExpressionNode(node.type, .literal(try budget.constants.evaluate(node)))
        } catch .stopped {
            return fail(
                "The constant parts of the expression take too long to evaluate: their texts are too long.")
        } catch {
            return fail(error.message)
        }
    }
}

extension ExpressionType {
    /// Whether a value of unknown type is asserted to be of this type.
    fileprivate var isAsserted: Bool {
        switch self {
        case .string, .number, .boolean, .object, .array: true
        default: false
        }
    }
}

extension ExpressionNode {
    /// Whether the node can be evaluated when the expression is compiled.
    var isConstant: Bool {
        switch operation {
        case .literal: true
        case .variable: arguments.allSatisfy(\.isConstant)
        case .compound(let name, _):
            name != "error" && !Self.dependent.contains(name) && arguments.allSatisfy(\.isLiteral)
        case .assertion, .coercion: arguments.allSatisfy(\.isConstant)
        // Constant bound values have become literals.
        default: arguments.allSatisfy(\.isLiteral)
        }
    }

    /// Operators whose value depends on the feature or its surroundings. `get` and `has` with an object are
    /// compiled under other names.
    private static let dependent: Set<String> = [
        "get", "has", "properties", "geometry-type", "id", "zoom", "accumulated",
    ]
}

extension JSONValue {
    /// The result of JavaScript's `typeof` for a value that is not a string.
    var javaScriptType: String {
        switch self {
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        default: "object"
        }
    }
}

extension ParsingContext {
    /// Parses an operator's expression; `items` begins with the operator's name.
    func parseOperator(_ name: String, _ items: [JSONValue]) -> ExpressionNode? {
        if let definition = operators.definitions[name] { return definition.parse(self, name, items) }
        if operators.excluded.contains(name) {
            return fail("\"\(name)\" needs a rendered map and is not supported.", 0)
        }
        return fail("Unknown expression \"\(name)\". If you wanted a literal array, use [\"literal\", [...]].", 0)
    }

    /// Parses an operator's expression by the first of its signatures that fits the operands.
    func parse(_ name: String, _ items: [JSONValue], by signatures: [Signature]) -> ExpressionNode? {
        let count = items.count - 1
        let fitting = signatures.filter { $0.takes(count) }
        var last: ErrorList?
        for signature in fitting {
            let trial = trial()
            last = trial.errors
            guard let arguments = trial.arguments(items, of: signature) else { continue }
            return ExpressionNode(signature.result, .compound(signature.name ?? name, signature.evaluate), arguments)
        }
        if fitting.count == 1, let last {
            errors.list += last.list
            return nil
        }
        return explain(fitting.isEmpty ? signatures : fitting, items)
    }

    /// Parses the operands by a signature; if they do not fit, records errors and returns nil.
    private func arguments(_ items: [JSONValue], of signature: Signature) -> [ExpressionNode]? {
        let parsed = operands(items, from: 1) { signature.parameter($0 - 1) }
        guard let arguments = parsed else { return nil }
        for (index, node) in arguments.enumerated() {
            _ = at(index + 1).check(signature.parameter(index), accepts: node.type)
        }
        return errors.list.isEmpty ? arguments : nil
    }

    /// Records an error that lists the signatures and the types found instead.
    private func explain(_ signatures: [Signature], _ items: [JSONValue]) -> ExpressionNode? {
        guard let operands = operands(items, from: 1, expecting: { _ in nil }) else { return nil }
        let found = operands.map(\.type.name).joined(separator: ", ")
        let expected = signatures.map(\.text).joined(separator: " | ")
        return fail("Expected arguments of type \(expected), but found (\(found)) instead.")
    }

    /// Parses the operands from an index on, whose types are those that `type` returns for their indexes.
    func operands(
        _ items: [JSONValue], from start: Int, expecting type: (Int) -> ExpressionType? = { _ in .value }
    ) -> [ExpressionNode]? {
        var operands: [ExpressionNode] = []
        for index in start..<max(items.count, start) {
            guard let node = parse(items[index], index, expecting: type(index)) else { return nil }
            operands.append(node)
        }
        return operands
    }
}
