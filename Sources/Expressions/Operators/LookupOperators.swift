// SPDX-License-Identifier: MIT
import JSON

/// Operators on arrays and strings.
extension ParsingContext {
    func parseAt(_ items: [JSONValue]) -> Node? {
        guard items.count == 3 else {
            return fail("Expected 2 arguments, but found \(items.count - 1) instead.")
        }
        let index = parse(items[1], 1, expecting: .number)
        let array = parse(items[2], 2, expecting: .array(expected ?? .value, nil))
        guard let index, let array else { return nil }
        // What only fails has elements that only fail.
        guard case .array(let item, _) = array.type else { return Node(array.type, .at, [index, array]) }
        return Node(item, .at, [index, array])
    }

    func parseIn(_ items: [JSONValue]) -> Node? {
        guard items.count == 3 else {
            return fail("Expected 2 arguments, but found \(items.count - 1) instead.")
        }
        guard let arguments = needleAndHaystack(items) else { return nil }
        return Node(.boolean, .isIn, arguments)
    }

    func parseIndexOf(_ items: [JSONValue]) -> Node? {
        guard (3...4).contains(items.count) else {
            return fail("Expected 2 or 3 arguments, but found \(items.count - 1) instead.")
        }
        guard var arguments = needleAndHaystack(items) else { return nil }
        if items.count == 4 {
            guard let start = parse(items[3], 3, expecting: .number) else { return nil }
            arguments.append(start)
        }
        return Node(.number, .indexOf, arguments)
    }

    private func needleAndHaystack(_ items: [JSONValue]) -> [Node]? {
        let needle = parse(items[1], 1, expecting: .value)
        let haystack = parse(items[2], 2, expecting: .value)
        guard let needle, let haystack else { return nil }
        switch needle.type {
        case .boolean, .string, .number, .null, .value: return [needle, haystack]
        default:
            note(
                "Expected first argument to be of type boolean, string, number or null, "
                    + "but found \(needle.type.name) instead")
            return nil
        }
    }

    func parseSlice(_ items: [JSONValue]) -> Node? {
        guard (3...4).contains(items.count) else {
            return fail("Expected 2 or 3 arguments, but found \(items.count - 1) instead.")
        }
        let input = parse(items[1], 1, expecting: .value)
        let start = parse(items[2], 2, expecting: .number)
        guard let input, let start else { return nil }
        switch input.type {
        case .array, .string, .value: break
        default:
            return fail(
                "Expected first argument to be of type array or string, but found \(input.type.name) instead")
        }
        guard items.count == 4 else { return Node(input.type, .slice, [input, start]) }
        guard let end = parse(items[3], 3, expecting: .number) else { return nil }
        return Node(input.type, .slice, [input, start, end])
    }

    func parseLength(_ items: [JSONValue]) -> Node? {
        guard items.count == 2 else {
            return fail("Expected 1 argument, but found \(items.count - 1) instead.")
        }
        guard let input = parse(items[1], 1) else { return nil }
        switch input.type {
        case .array, .string, .value: return Node(.number, .length, [input])
        default:
            return fail("Expected argument of type string or array, but found \(input.type.name) instead.")
        }
    }
}

extension EvaluationContext {
    func at(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let index = try number(arguments[0])
        guard case .array(let items) = try evaluate(arguments[1]) else { return .null }
        let text = String(javaScript: index)
        if index < 0 { throw EvaluationError("Array index out of bounds: \(text) < 0.") }
        if index >= Double(items.count) {
            throw EvaluationError("Array index out of bounds: \(text) > \(items.count - 1).")
        }
        guard let place = Int(exactly: index) else {
            throw EvaluationError("Array index must be an integer, but found \(text) instead.")
        }
        return items[place]
    }

    func isIn(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let needle = try evaluate(arguments[0])
        let haystack = try evaluate(arguments[1])
        try charge(reading: needle)
        try charge(reading: haystack)
        guard Conversion.boolean(haystack) else { return .bool(false) }
        try check(needle: needle)
        switch haystack {
        case .array(let items): return .bool(items.contains { Self.isSame($0, needle) })
        case .string(let text):
            return .bool(ByteSearch.contains(Conversion.javaScriptText(needle), in: text))
        default: throw Self.badHaystack(haystack)
        }
    }

    func indexOf(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let needle = try evaluate(arguments[0])
        let haystack = try evaluate(arguments[1])
        try charge(reading: needle)
        try charge(reading: haystack)
        try check(needle: needle)
        var start = arguments.count > 2 ? try number(arguments[2]) : 0
        start = start.isNaN ? 0 : start.rounded(.towardZero)
        switch haystack {
        case .array(let items):
            // A negative start counts from the end.
            let first = start < 0 ? max(0, Double(items.count) + start) : start
            let place = items.indices.first {
                Double($0) >= first && Self.isSame(items[$0], needle)
            }
            return .number(Double(place ?? -1))
        case .string(let text):
            return .number(
                Double(Self.index(of: Conversion.javaScriptText(needle), in: text, from: start)))
        default: throw Self.badHaystack(haystack)
        }
    }

    /// The index in code points, -1 if there is none; `start` counts UTF-16 code units, as in JavaScript.
    private static func index(of needle: String, in text: String, from start: Double) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            let first = offset(ofUnit: max(0, start), in: bytes)
            guard let found = ByteSearch.first(needle, in: bytes, from: first) else { return -1 }
            return bytes[..<found].count { !isContinuation($0) }
        }
    }

    /// The byte at which a UTF-16 code unit begins, the end for those past it. The second half of a surrogate pair is
    /// not a character: that is where the next one begins.
    private static func offset(ofUnit unit: Double, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var units = 0.0
        var offset = 0
        while offset < bytes.count, units < unit {
            units += bytes[offset] >= 0xf0 ? 2 : 1
            offset += 1
            while offset < bytes.count, isContinuation(bytes[offset]) { offset += 1 }
        }
        return offset
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }

    private func check(needle: JSONValue) throws(EvaluationError) {
        switch needle {
        case .bool, .string, .number, .null: return
        default:
            throw EvaluationError(
                "Expected first argument to be of type boolean, string, number or null, "
                    + "but found \(ExpressionType.of(needle).name) instead.")
        }
    }

    private static func badHaystack(_ value: JSONValue) -> EvaluationError {
        EvaluationError(
            "Expected second argument to be of type array or string, "
                + "but found \(ExpressionType.of(value).name) instead.")
    }

    private static func isSame(_ item: JSONValue, _ needle: JSONValue) -> Bool {
        switch item {
        case .array, .object: false
        default: item == needle
        }
    }

    func slice(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let input = try evaluate(arguments[0])
        try charge(reading: input)
        let start = try number(arguments[1])
        let end = arguments.count > 2 ? try number(arguments[2]) : .infinity
        switch input {
        case .array(let items): return .array(Array(items[Self.range(start, end, of: items.count)]))
        case .string(let text):
            let characters = Array(text.unicodeScalars)
            var sliced = String.UnicodeScalarView()
            sliced.append(contentsOf: characters[Self.range(start, end, of: characters.count)])
            return .string(String(sliced))
        default:
            throw EvaluationError(
                "Expected first argument to be of type array or string, "
                    + "but found \(ExpressionType.of(input).name) instead.")
        }
    }

    /// A range as JavaScript's `slice` takes it: negative ends count from the end.
    private static func range(_ start: Double, _ end: Double, of count: Int) -> Range<Int> {
        func place(_ number: Double) -> Int {
            let whole = number.isNaN ? 0 : number.rounded(.towardZero)
            return Int(max(0, min(whole < 0 ? Double(count) + whole : whole, Double(count))))
        }
        let (first, last) = (place(start), place(end))
        return first..<max(first, last)
    }

    func length(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let input = try evaluate(arguments[0])
        try charge(reading: input)
        switch input {
        case .string(let text): return .number(Double(text.unicodeScalars.count))
        case .array(let items): return .number(Double(items.count))
        default:
            throw EvaluationError(
                "Expected value to be of type string or array, "
                    + "but found \(ExpressionType.of(input).name) instead.")
        }
    }
}
