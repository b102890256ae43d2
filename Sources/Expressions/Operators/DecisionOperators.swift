// SPDX-License-Identifier: MIT
import JSON

/// Operators that choose what is evaluated.
extension ParsingContext {
    /// `all` and `any`: with two arguments MapLibre knows two signatures, which its messages show.
    func parseLogical(_ name: String, _ items: [JSONValue]) -> Node? {
        let never: Operation.Evaluate = { _, _ throws(EvaluationError) in .null }
        let signatures = [
            Signature(.boolean, .fixed([.boolean, .boolean]), never),
            Signature(.boolean, .any(.boolean), never),
        ]
        guard let node = parseCompound(name, signatures, items) else { return nil }
        return Node(.boolean, name == "all" ? .all : .any, node.arguments)
    }

    func parseCase(_ items: [JSONValue]) -> Node? {
        guard items.count >= 4 else {
            return fail("Expected at least 3 arguments, but found only \(items.count - 1).")
        }
        guard items.count % 2 == 0 else { return fail("Expected an odd number of arguments.") }
        var type = outputType
        var arguments: [Node] = []
        for place in stride(from: 1, to: items.count - 1, by: 2) {
            guard let test = parse(items[place], place, expecting: .boolean),
                let result = parse(items[place + 1], place + 1, expecting: type)
            else { return nil }
            type = type ?? result.type
            arguments += [test, result]
        }
        guard let otherwise = parse(items[items.count - 1], items.count - 1, expecting: type) else {
            return nil
        }
        return Node(type ?? otherwise.type, .caseWhen, arguments + [otherwise])
    }

    func parseMatch(_ items: [JSONValue]) -> Node? {
        guard items.count >= 5 else {
            return fail("Expected at least 4 arguments, but found only \(items.count - 1).")
        }
        guard items.count % 2 == 1 else { return fail("Expected an even number of arguments.") }
        var (inputType, type) = (ExpressionType?.none, outputType)
        var cases: [MatchLabel: Int] = [:]
        var taken: Set<[UInt8]> = []
        var outputs: [Node] = []
        for place in stride(from: 2, to: items.count - 1, by: 2) {
            guard let labels = labels(items[place], place, &inputType, &taken) else { return nil }
            for label in labels { cases[label] = outputs.count }
            guard let result = parse(items[place + 1], place, expecting: type) else { return nil }
            type = type ?? result.type
            outputs.append(result)
        }
        let last = items.count - 1
        guard let input = parse(items[1], 1, expecting: .value),
            let otherwise = parse(items[last], last, expecting: type),
            let inputType
        else { return nil }
        if input.type != .value, !at(1).check(inputType, accepts: input.type) { return nil }
        return Node(
            type ?? otherwise.type, .match(inputType: inputType, cases: cases),
            [input] + outputs + [otherwise])
    }

    /// The labels of one branch, checked.
    private func labels(
        _ value: JSONValue, _ place: Int, _ type: inout ExpressionType?, _ taken: inout Set<[UInt8]>
    ) -> [MatchLabel]? {
        let context = at(place)
        let values: [JSONValue]
        if case .array(let items) = value { values = items } else { values = [value] }
        if values.isEmpty { context.note("Expected at least one branch label.") }
        var labels: [MatchLabel] = []
        for value in values {
            guard let label = context.label(value) else { return nil }
            let labelType = ExpressionType.of(value)
            if let type {
                guard context.check(type, accepts: labelType) else { return nil }
            } else {
                type = labelType
            }
            // Unique as JavaScript's property names are: by text, of one type.
            guard taken.insert(Array(Conversion.text(value).utf8)).inserted else {
                context.note("Branch labels must be unique.")
                return nil
            }
            labels.append(label)
        }
        return values.isEmpty ? nil : labels
    }

    private func label(_ value: JSONValue) -> MatchLabel? {
        let largest = 9_007_199_254_740_991.0
        switch value {
        case .number(let number) where number.magnitude > largest:
            note("Branch labels must be integers no larger than 9007199254740991.")
        case .number(let number) where number.rounded(.down) != number:
            note("Numeric branch labels must be integer values.")
        case .number, .string: return MatchLabel(value)
        default: note("Branch labels must be numbers or strings.")
        }
        return nil
    }

    func parseCoalesce(_ items: [JSONValue]) -> Node? {
        guard items.count >= 2 else { return fail("Expected at least one argument.") }
        var type = outputType
        var arguments: [Node] = []
        for place in 1..<items.count {
            guard let node = parse(items[place], place, expecting: type, annotation: .omit) else {
                return nil
            }
            type = type ?? node.type
            arguments.append(node)
        }
        // Where an argument would have had to be asserted, the whole is instead: null has to pass.
        let isOpen = expected.map { expected in arguments.contains { !expected.accepts($0.type) } } ?? false
        return Node(isOpen ? .value : type ?? .value, .coalesce, arguments)
    }
}

/// `let` and `var`.
extension ParsingContext {
    func parseLet(_ items: [JSONValue]) -> Node? {
        guard items.count >= 4 else {
            return fail("Expected at least 3 arguments, but found \(items.count - 1) instead.")
        }
        var bindings: [(name: String, value: Node)] = []
        var values: [Node] = []
        for place in stride(from: 1, to: items.count - 1, by: 2) {
            guard case .string(let name) = items[place] else {
                return fail("Expected string, but found \(Self.typeName(items[place])) instead.", place)
            }
            guard name.utf8.allSatisfy(Self.isNameByte) else {
                return fail("Variable names must contain only alphanumeric characters or '_'.", place)
            }
            guard place + 1 < items.count, let value = parse(items[place + 1], place + 1) else { return nil }
            let variable = Node(value.type, .variable(binding: budget.nextBinding()), [value])
            bindings.append((name, variable))
            values.append(value)
        }
        let last = items.count - 1
        guard let result = parse(items[last], last, expecting: expected, binding: bindings) else {
            return nil
        }
        return Node(result.type, .bind, values + [result])
    }

    func parseVar(_ items: [JSONValue]) -> Node? {
        guard items.count == 2, case .string(let name) = items[1] else {
            return fail("'var' expression requires exactly one string literal argument.")
        }
        guard let variable = scope[name] else {
            return fail(
                "Unknown variable \"\(name)\". Make sure \"\(name)\" has been bound in an enclosing \"let\" "
                    + "expression before using it.", 1)
        }
        return variable
    }

    private static func typeName(_ value: JSONValue) -> String {
        switch value {
        case .bool: "boolean"
        case .number: "number"
        default: "object"
        }
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
