// SPDX-License-Identifier: MIT
import CLinux
import JSON

/// Operators on arrays and strings: `at`, `in`, `index-of`, `slice` and `length`.
enum SequenceOperators {
    static let definitions: [String: OperatorDefinition] = [
        "at": OperatorDefinition { context, _, items in at(context, items) },
        "in": OperatorDefinition { context, _, items in
            guard hasOperands(2...2, context, items), let arguments = needleAndHaystack(context, items) else {
                return nil
            }
            return ExpressionNode(.boolean, .isIn, arguments)
        },
        "index-of": OperatorDefinition { context, _, items in
            guard hasOperands(2...3, context, items), let both = needleAndHaystack(context, items),
                let start = context.operands(items, from: 3, expecting: { _ in .number })
            else { return nil }
            return ExpressionNode(.number, .lazy(indexOf), both + start)
        },
        "slice": OperatorDefinition { context, _, items in
            guard hasOperands(2...3, context, items) else { return nil }
            let input = context.parse(items[1], 1, expecting: .value)
            let start = context.parse(items[2], 2, expecting: .number)
            guard let input, let start else { return nil }
            guard isSequence(input.type) else {
                return context.fail(
                    "Expected first argument to be of type array or string, but found \(input.type.name) instead")
            }
            let end = context.operands(items, from: 3) { _ in .number }
            guard let end else { return nil }
            return ExpressionNode(input.type, .lazy(slice), [input, start] + end)
        },
        "length": OperatorDefinition { context, _, items in
            guard hasOperands(1...1, context, items), let input = context.parse(items[1], 1) else {
                return nil
            }
            guard isSequence(input.type) else {
                return context.fail("Expected argument of type string or array, but found \(input.type.name) instead.")
            }
            return ExpressionNode(.number, .lazy(length), [input])
        },
    ]

    // MARK: Parsing

    private static func hasOperands(
        _ counts: ClosedRange<Int>, _ context: ParsingContext, _ items: [JSONValue]
    ) -> Bool {
        if counts.contains(items.count - 1) { return true }
        let wanted =
            counts.count > 1
            ? "\(counts.lowerBound) or \(counts.upperBound) arguments"
            : counts.lowerBound == 1 ? "1 argument" : "\(counts.lowerBound) arguments"
        context.note("Expected \(wanted), but found \(items.count - 1) instead.")
        return false
    }

    private static func isSequence(_ type: ExpressionType) -> Bool {
        switch type {
        case .array, .string, .value: true
        default: false
        }
    }

    private static func at(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard hasOperands(2...2, context, items) else { return nil }
        let index = context.parse(items[1], 1, expecting: .number)
        let array = context.parse(items[2], 2, expecting: .array(context.expected ?? .value, nil))
        guard let index, let array else { return nil }
        // The element of an expression that always fails also always fails.
        guard case .array(let item, _) = array.type else {
            return ExpressionNode(array.type, .lazy(element), [index, array])
        }
        return ExpressionNode(item, .lazy(element), [index, array])
    }

    private static func needleAndHaystack(_ context: ParsingContext, _ items: [JSONValue]) -> [ExpressionNode]? {
        let needle = context.parse(items[1], 1, expecting: .value)
        let haystack = context.parse(items[2], 2, expecting: .value)
        guard let needle, let haystack else { return nil }
        switch needle.type {
        case .boolean, .string, .number, .null, .value: return [needle, haystack]
        default:
            context.note(
                "Expected first argument to be of type boolean, string, number or null, "
                    + "but found \(needle.type.name) instead")
            return nil
        }
    }

    // MARK: Evaluation

    @Sendable private static func element(
        _ arguments: [ExpressionNode], _ context: EvaluationContext
    ) throws(EvaluationError) -> JSONValue {
        let index = try context.number(arguments[0])
        guard case .array(let items) = try context.evaluate(arguments[1]) else { return .null }
        let text = String(javaScript: index)
        if index < 0 { throw EvaluationError("Array index out of bounds: \(text) < 0.") }
        if index >= Double(items.count) {
            throw EvaluationError("Array index out of bounds: \(text) > \(items.count - 1).")
        }
        guard let whole = Int(exactly: index) else {
            throw EvaluationError("Array index must be an integer, but found \(text) instead.")
        }
        return items[whole]
    }

    @Sendable private static func indexOf(
        _ arguments: [ExpressionNode], _ context: EvaluationContext
    ) throws(EvaluationError) -> JSONValue {
        let (needle, haystack) = try values(of: arguments, context)
        try check(needle: needle)
        var start = arguments.count > 2 ? try context.number(arguments[2]) : 0
        start = start.isNaN ? 0 : start.rounded(.towardZero)
        switch haystack {
        case .array(let items):
            // A negative start counts from the end.
            let first = start < 0 ? max(0, Double(items.count) + start) : start
            let index = items.indices.first { Double($0) >= first && isSame(items[$0], needle) }
            return .number(Double(index ?? -1))
        case .string(let text):
            return .number(Double(index(of: Conversion.javaScriptText(needle), in: text, from: start)))
        default: throw unexpected(haystack, "second argument", "array or string")
        }
    }

    fileprivate static func values(
        of arguments: [ExpressionNode], _ context: EvaluationContext
    ) throws(EvaluationError) -> (needle: JSONValue, haystack: JSONValue) {
        let (needle, haystack) = (try context.evaluate(arguments[0]), try context.evaluate(arguments[1]))
        try context.charge(reading: needle)
        try context.charge(reading: haystack)
        return (needle, haystack)
    }

    fileprivate static func check(needle: JSONValue) throws(EvaluationError) {
        switch needle {
        case .bool, .string, .number, .null: return
        default: throw unexpected(needle, "first argument", "boolean, string, number or null")
        }
    }

    fileprivate static func unexpected(_ value: JSONValue, _ what: String, _ expected: String) -> EvaluationError {
        EvaluationError(
            "Expected \(what) to be of type \(expected), but found \(ExpressionType.of(value).name) instead.")
    }

    fileprivate static func isSame(_ item: JSONValue, _ needle: JSONValue) -> Bool {
        switch item {
        case .array, .object: false
        default: item == needle
        }
    }

    @Sendable private static func slice(
        _ arguments: [ExpressionNode], _ context: EvaluationContext
    ) throws(EvaluationError) -> JSONValue {
        let input = try context.evaluate(arguments[0])
        try context.charge(reading: input)
        let start = try context.number(arguments[1])
        let end = arguments.count > 2 ? try context.number(arguments[2]) : .infinity
        switch input {
        case .array(let items): return .array(Array(items[range(start, end, of: items.count)]))
        case .string(let text):
            let characters = Array(text.unicodeScalars)
            var sliced = String.UnicodeScalarView()
            sliced.append(contentsOf: characters[range(start, end, of: characters.count)])
            return .string(String(sliced))
        default: throw unexpected(input, "first argument", "array or string")
        }
    }

    /// A range as in JavaScript's `slice`: negative ends count from the end.
    private static func range(_ start: Double, _ end: Double, of count: Int) -> Range<Int> {
        func index(_ number: Double) -> Int {
            let whole = number.isNaN ? 0 : number.rounded(.towardZero)
            return Int(max(0, min(whole < 0 ? Double(count) + whole : whole, Double(count))))
        }
        let (first, last) = (index(start), index(end))
        return first..<max(first, last)
    }

    @Sendable private static func length(
        _ arguments: [ExpressionNode], _ context: EvaluationContext
    ) throws(EvaluationError) -> JSONValue {
        let input = try context.evaluate(arguments[0])
        try context.charge(reading: input)
        switch input {
        case .string(let text): return .number(Double(text.unicodeScalars.count))
        case .array(let items): return .number(Double(items.count))
        default: throw unexpected(input, "value", "string or array")
        }
    }
}

extension EvaluationContext {
    /// The value of `in`.
    func isIn(_ arguments: [ExpressionNode]) throws(EvaluationError) -> JSONValue {
        let (needle, haystack) = try SequenceOperators.values(of: arguments, self)
        guard Conversion.boolean(haystack) else { return .bool(false) }
        try SequenceOperators.check(needle: needle)
        switch haystack {
        case .array(let items): return .bool(items.contains { SequenceOperators.isSame($0, needle) })
        case .string(let text):
            return .bool(SequenceOperators.find(Conversion.javaScriptText(needle), in: text, from: 0) != nil)
        default: throw SequenceOperators.unexpected(haystack, "second argument", "array or string")
        }
    }
}

/// Searches strings as UTF-8: there, a character's bytes never occur within another character's.
extension SequenceOperators {
    /// The offset of the first occurrence of a string at or after `start`; nil if there is none.
    ///
    /// An empty string occurs at `start`. O(both lengths), even for repetitive texts, as glibc's memmem(3) is.
    static func find(_ wanted: String, in text: String, from start: Int) -> Int? {
        guard start >= 0, start <= text.utf8.count else { return nil }
        let found = clusterd_find(text, text.utf8.count, wanted, wanted.utf8.count, start)
        return found < 0 ? nil : found
    }

    /// The index in code points, -1 if there is none; `start` counts UTF-16 code units, as in JavaScript.
    private static func index(of wanted: String, in text: String, from start: Double) -> Int {
        // The second half of a surrogate pair is not a character: the search begins at the next one.
        var (units, offset) = (0.0, 0)
        for scalar in text.unicodeScalars {
            if units >= start { break }
            units += Double(UTF16.width(scalar))
            offset += UTF8.width(scalar)
        }
        guard let found = find(wanted, in: text, from: offset) else { return -1 }
        return text.unicodeScalars.prefix(upTo: text.utf8.index(text.startIndex, offsetBy: found)).count
    }
}
