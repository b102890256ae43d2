// SPDX-License-Identifier: MIT
import JSON

/// Literals, assertions and conversions.
extension ParsingContext {
    func parseLiteral(_ name: String, _ items: [JSONValue]) -> Node? {
        guard items.count == 2 else {
            return fail(
                "'\(name)' expression requires exactly one argument, but found \(items.count - 1) instead.")
        }
        let value = items[1]
        var type = ExpressionType.of(value)
        // An empty array is of whatever array is expected.
        if case .array(_, 0?) = type, case .array(_, let count)? = expected, count == nil || count == 0,
            let expected
        {
            type = expected
        }
        return Node(type, .literal(value))
    }

    func parseAssertion(_ name: String, _ items: [JSONValue]) -> Node? {
        guard items.count >= 2 else { return fail("Expected at least one argument.") }
        var start = 1
        let type: ExpressionType
        switch name {
        case "string": type = .string
        case "number": type = .number
        case "boolean": type = .boolean
        case "object": type = .object
        default:
            guard let array = parseArrayType(items, &start) else { return nil }
            type = array
        }
        guard let arguments = values(items, from: start) else { return nil }
        return Node(type, .assertion, arguments)
    }

    private func parseArrayType(_ items: [JSONValue], _ start: inout Int) -> ExpressionType? {
        guard items.count > 2 else { return .array(.value, nil) }
        start = 2
        guard
            let item = ["string": .string, "number": .number, "boolean": ExpressionType.boolean][
                text(items[1])]
        else {
            note("The item type argument of \"array\" must be one of string, number, boolean", [1])
            return nil
        }
        guard items.count > 3 else { return .array(item, nil) }
        start = 3
        switch items[2] {
        case .null: return .array(item, nil)
        case .number(let number):
            guard number >= 0, let count = Int(exactly: number) else { break }
            return .array(item, count)
        default: break
        }
        note("The length argument to \"array\" must be a positive integer literal", [2])
        return nil
    }

    private func text(_ value: JSONValue) -> String {
        guard case .string(let text) = value else { return "" }
        return text
    }

    func parseCoercion(_ name: String, _ items: [JSONValue]) -> Node? {
        guard items.count >= 2 else { return fail("Expected at least one argument.") }
        if name != "to-number", items.count != 2 { return fail("Expected one argument.") }
        guard let arguments = values(items, from: 1) else { return nil }
        let type: ExpressionType = name == "to-number" ? .number : name == "to-string" ? .string : .boolean
        return Node(type, .coercion, arguments)
    }

    private func values(_ items: [JSONValue], from start: Int) -> [Node]? {
        var arguments: [Node] = []
        for place in start..<max(items.count, start) {
            guard let node = parse(items[place], place, expecting: .value) else { return nil }
            arguments.append(node)
        }
        return arguments
    }
}
