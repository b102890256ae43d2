// SPDX-License-Identifier: MIT
import CLinux
import JSON

/// Operators that produce strings, and `split`.
enum TextOperators {
    static let definitions: [String: OperatorDefinition] = [
        "upcase": changing { $0.uppercased() }, "downcase": changing(Lowercase.text),
        "concat": OperatorDefinition(
            Signature(.string, .any(.value)) { arguments, context throws(EvaluationError) in
                var parts: [String] = []
                for argument in arguments { parts.append(try context.boundedText(argument)) }
                return try joined(parts, by: "")
            }),
        "split": OperatorDefinition(
            Signature(.array(.string, nil), .fixed([.string, .string])) { arguments, context throws(EvaluationError) in
                let parts = split(Conversion.text(arguments[0]), by: Conversion.text(arguments[1]))
                try context.charge(parts.count >> 3)
                return .array(parts)
            }),
        "join": OperatorDefinition(
            Signature(.string, .fixed([.array(.string, nil), .string])) { arguments, _ throws(EvaluationError) in
                guard case .array(let items) = arguments[0] else { return .string("") }
                return try joined(items.map { Conversion.text($0) }, by: Conversion.text(arguments[1]))
            }),
    ]

    private static func changing(_ change: @escaping @Sendable (String) -> String) -> OperatorDefinition {
        OperatorDefinition(
            Signature(.string, .fixed([.string])) { arguments, _ throws(EvaluationError) in
                .string(change(Conversion.text(arguments[0])))
            })
    }

    private static func joined(_ parts: [String], by separator: String) throws(EvaluationError) -> JSONValue {
        let (gaps, overflow) = separator.utf8.count.multipliedReportingOverflow(by: max(0, parts.count - 1))
        let length = parts.reduce(gaps) { $0 + $1.utf8.count }
        guard !overflow, length <= ExpressionLimits.stringBytes else { throw Conversion.tooLong }
        return .string(parts.joined(separator: separator))
    }

    /// Splits as JavaScript does, except that an empty separator splits characters, not UTF-16 code units.
    private static func split(_ text: String, by separator: String) -> [JSONValue] {
        if separator.isEmpty { return text.unicodeScalars.map { .string(String(Character($0))) } }
        let (bytes, separator) = (Array(text.utf8), Array(separator.utf8))
        var parts: [JSONValue] = []
        var start = 0
        while true {
            let found = clusterd_find(bytes, bytes.count, separator, separator.count, start)
            let end = found < 0 ? bytes.count : found
            parts.append(.string(String(decoding: bytes[start..<end], as: UTF8.self)))
            if found < 0 { return parts }
            start = end + separator.count
        }
    }
}

/// Converts to lower case by the Unicode Standard (3.13), without a locale.
enum Lowercase {
    /// The text in lower case. Swift's own conversion ignores the context: a sigma at the end of a word has
    /// its own form.
    static func text(_ text: String) -> String {
        let capital: Unicode.Scalar = "\u{3a3}"
        guard text.unicodeScalars.contains(capital) else { return text.lowercased() }
        let scalars = Array(text.unicodeScalars)
        var lower = ""
        for (index, scalar) in scalars.enumerated() {
            if scalar == capital {
                lower += endsWord(scalars, index) ? "\u{3c2}" : "\u{3c3}"
            } else {
                lower += scalar.properties.lowercaseMapping
            }
        }
        return lower
    }

    /// Whether a cased letter precedes it and none follows it, ignoring characters such as accents.
    private static func endsWord(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        let before = scalars[..<index].last { !$0.properties.isCaseIgnorable }
        let after = scalars[(index + 1)...].first { !$0.properties.isCaseIgnorable }
        return before?.properties.isCased == true && after?.properties.isCased != true
    }
}

/// `error`: fails with a message.
enum ErrorOperator {
    static let definitions: [String: OperatorDefinition] = [
        "error": OperatorDefinition(
            Signature(.error, .fixed([.string])) { arguments, _ throws(EvaluationError) in
                throw EvaluationError(Conversion.text(arguments[0]))
            })
    ]
}
