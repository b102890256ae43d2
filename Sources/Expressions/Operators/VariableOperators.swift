// SPDX-License-Identifier: MIT
import JSON

/// `let` and `var`.
enum VariableOperators {
    static let definitions: [String: OperatorDefinition] = [
        "let": OperatorDefinition { context, _, items in binding(context, items) },
        "var": OperatorDefinition { context, _, items in variable(context, items) },
    ]

    private static func binding(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count >= 4 else {
            return context.fail("Expected at least 3 arguments, but found \(items.count - 1) instead.")
        }
        var bindings: [ParsingContext.Binding] = []
        var values: [ExpressionNode] = []
        for index in stride(from: 1, to: items.count - 1, by: 2) {
            guard case .string(let name) = items[index] else {
                return context.fail("Expected string, but found \(items[index].javaScriptType) instead.", index)
            }
            guard name.utf8.allSatisfy(isNameByte) else {
                return context.fail("Variable names must contain only alphanumeric characters or '_'.", index)
            }
            guard index + 1 < items.count, let value = context.parse(items[index + 1], index + 1) else {
                return nil
            }
            let variable = ExpressionNode(
                value.type, .variable(binding: context.budget.nextBinding()), [value])
            bindings.append((name, variable))
            values.append(value)
        }
        let last = items.count - 1
        guard let result = context.parse(items[last], last, expecting: context.expected, binding: bindings)
        else { return nil }
        return ExpressionNode(result.type, .bind, values + [result])
    }

    private static func variable(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard items.count == 2, case .string(let name) = items[1] else {
            return context.fail("'var' expression requires exactly one string literal argument.")
        }
        guard let variable = context.variable(name) else {
            return context.fail(
                "Unknown variable \"\(name)\". Make sure \"\(name)\" has been bound in an enclosing \"let\" "
                    + "expression before using it.", 1)
        }
        return variable
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
