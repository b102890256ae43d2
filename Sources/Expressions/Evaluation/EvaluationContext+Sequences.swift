// SPDX-License-Identifier: MIT
import JSON

/// The values of `at`, `in`, `index-of`, `slice` and `length`.
extension EvaluationContext {
    func at(_ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let index = try number(arguments[0])
        guard case .array(let items) = try evaluate(arguments[1]) else { return .null }
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
            let index = items.indices.first {
                Double($0) >= first && Self.isSame(items[$0], needle)
            }
            return .number(Double(index ?? -1))
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

    /// The byte offset at which a UTF-16 code unit begins, or the end for units past it. The second half of a
    /// surrogate pair is not a character, so its offset is that of the next one.
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

    /// A range as in JavaScript's `slice`: negative ends count from the end.
    private static func range(_ start: Double, _ end: Double, of count: Int) -> Range<Int> {
        func index(_ number: Double) -> Int {
            let whole = number.isNaN ? 0 : number.rounded(.towardZero)
            return Int(max(0, min(whole < 0 ? Double(count) + whole : whole, Double(count))))
        }
        let (first, last) = (index(start), index(end))
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
