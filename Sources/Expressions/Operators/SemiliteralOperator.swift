// SPDX-License-Identifier: MIT
import JSON

/// `semiliteral`: an array whose elements are expressions; anything else is a literal.
extension ParsingContext {
    func parseSemiliteral(_ items: [JSONValue]) -> Node? {
        guard items.count == 2, case .array(let elements) = items[1] else {
            return parseLiteral("semiliteral", items)
        }
        let context = at(1)
        var arguments: [Node] = []
        for (place, element) in elements.enumerated() {
            guard let node = context.parse(element, place, expecting: .value) else { return nil }
            arguments.append(node)
        }
        return Node(.array(Self.common(arguments.map(\.type)), arguments.count), .semiliteral, arguments)
    }

    /// The type of all elements. Two arrays are never of one type here, as in MapLibre.
    private static func common(_ types: [ExpressionType]) -> ExpressionType {
        guard let first = types.first else { return .value }
        if types.count > 1, case .array = first { return .value }
        return types.allSatisfy { $0 == first } ? first : .value
    }
}

extension EvaluationContext {
    /// The elements' values as an array, which must not be too large: a variable may be in it many times, and
    /// each of those may again be such an array.
    func semiliteral(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        var items: [JSONValue] = []
        items.reserveCapacity(arguments.count)
        for argument in arguments { items.append(try evaluate(argument)) }
        var room = ExpressionLimits.stringBytes
        guard items.allSatisfy({ Self.fits($0, &room) }) else {
            throw EvaluationError("An array may have \(ExpressionLimits.stringBytes) bytes at most.")
        }
        for item in items { try charge(readingAllOf: item) }
        return .array(items)
    }

    /// Whether there is room for a value, counting a byte for each value and those of strings.
    private static func fits(_ value: JSONValue, _ room: inout Int) -> Bool {
        room -= 1
        switch value {
        case .string(let text): room -= text.utf8.count
        case .array(let items): return room >= 0 && items.allSatisfy { fits($0, &room) }
        case .object(let object): return room >= 0 && object.members.allSatisfy { fits($0.value, &room) }
        default: break
        }
        return room >= 0
    }
}
