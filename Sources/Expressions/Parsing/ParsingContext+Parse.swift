// SPDX-License-Identifier: MIT
import JSON

extension ParsingContext {
    /// Parses an expression, checks its type and evaluates it if it is constant.
    func parseHere(_ value: JSONValue, annotation: Annotation) -> Node? {
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
                "Expected an array with at least one element. If you wanted a literal array, use [\"literal\", []]."
            )
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

    private func typed(_ node: Node, _ annotation: Annotation) -> Node? {
        guard let expected else { return node }
        if node.type == .value, expected.isAsserted {
            switch annotation {
            case .assert: return Node(expected, .assertion, [node])
            case .coerce: return Node(expected, .coercion, [node])
            case .omit: return node
            }
        }
        return check(expected, accepts: node.type) ? node : nil
    }

    /// The node's value as a literal if everything on which it depends is constant; otherwise the node
    /// itself.
    private func folded(_ node: Node) -> Node? {
        guard !node.isLiteral, node.isConstant else { return node }
        do throws(EvaluationError) {
            // A constant part may be a long text, so cancellation is checked before each.
            guard budget.continues() else { throw .stopped }
            return Node(node.type, .literal(try budget.constants.evaluate(node)))
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

extension Node {
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
