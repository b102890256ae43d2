// SPDX-License-Identifier: MIT
import JSON

extension ParsingContext {
    /// Parses `==`, `!=`, `<`, `>`, `<=` or `>=`.
    func parseComparison(_ comparison: Comparison, _ items: [JSONValue]) -> Node? {
        guard items.count == 3 || items.count == 4 else { return fail("Expected two or three arguments.") }
        guard var left = operand(items[1], 1, of: comparison),
            var right = operand(items[2], 2, of: comparison)
        else { return nil }
        if left.type.kind != right.type.kind, left.type != .value, right.type != .value {
            return fail("Cannot compare types '\(left.type.name)' and '\(right.type.name)'.")
        }
        if comparison.isOrder {
            if left.type == .value, right.type != .value { left = Node(right.type, .assertion, [left]) }
            if left.type != .value, right.type == .value { right = Node(left.type, .assertion, [right]) }
        }
        if items.count == 4 {
            guard [left.type, right.type].contains(where: { $0 == .string || $0 == .value }) else {
                return fail("Cannot use collator to compare non-string types.")
            }
            // There is no collator; its operator is refused by name.
            guard let node = parse(items[3], 3) else { return nil }
            return at(3).fail("Expected collator but found \(node.type.name) instead.")
        }
        return Node(.boolean, .comparison(comparison), [left, right])
    }

    private func operand(_ value: JSONValue, _ place: Int, of comparison: Comparison) -> Node? {
        guard let node = parse(value, place, expecting: .value) else { return nil }
        let isComparable =
            switch node.type {
            case .string, .number, .value: true
            case .boolean, .null: !comparison.isOrder
            default: false
            }
        guard isComparable else {
            return at(place).fail(
                "\"\(comparison.rawValue)\" comparisons are not supported for type '\(node.type.name)'.")
        }
        return node
    }
}

extension Comparison {
    /// Arrays and objects are equal if their content is. MapLibre compares their identity: there, `["get", "o"]` is equal
    /// to itself and to nothing else, which values that are read again for each use cannot follow.
    func compare(_ left: JSONValue, _ right: JSONValue) throws(EvaluationError) -> Bool {
        switch self {
        case .equal: return left == right
        case .notEqual: return left != right
        default: break
        }
        switch (left, right) {
        case (.number(let a), .number(let b)): return holds(a, b)
        case (.string(let a), .string(let b)): return holds(Self.order(a, b), 0)
        default:
            let (a, b) = (ExpressionType.of(left).kind, ExpressionType.of(right).kind)
            throw EvaluationError(
                "Expected arguments for \"\(rawValue)\" to be (string, string) or (number, number), "
                    + "but found (\(a), \(b)) instead.")
        }
    }

    func holds(_ a: Double, _ b: Double) -> Bool {
        switch self {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .greater: a > b
        case .lessOrEqual: a <= b
        case .greaterOrEqual: a >= b
        }
    }

    /// Below, at or above 0 as the first comes before, with or after the second by UTF-16 code units.
    static func order(_ a: String, _ b: String) -> Double {
        if a.utf8.elementsEqual(b.utf8) { return 0 }
        return a.utf16.lexicographicallyPrecedes(b.utf16) ? -1 : 1
    }
}
