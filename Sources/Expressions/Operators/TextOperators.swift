// SPDX-License-Identifier: MIT
import JSON

/// Making and changing strings.
enum TextOperators {
    static let signatures: [String: [Signature]] = [
        "upcase": [changing { $0.uppercased() }],
        "downcase": [changing(Lowercase.text)],
        "concat": [
            Signature(.string, .any(.value)) { arguments, _ throws(EvaluationError) in
                var parts: [String] = []
                for argument in arguments { parts.append(try Conversion.boundedText(argument)) }
                return try joined(parts, by: "")
            }
        ],
        "split": [
            Signature(.array(.string, nil), .fixed([.string, .string])) {
                arguments, _ throws(EvaluationError) in
                .array(split(Conversion.text(arguments[0]), by: Conversion.text(arguments[1])))
            }
        ],
        "join": [
            Signature(.string, .fixed([.array(.string, nil), .string])) {
                arguments, _ throws(EvaluationError) in
                guard case .array(let items) = arguments[0] else { return .string("") }
                return try joined(items.map { Conversion.text($0) }, by: Conversion.text(arguments[1]))
            }
        ],
    ]

    private static func changing(_ change: @escaping @Sendable (String) -> String) -> Signature {
        Signature(.string, .fixed([.string])) { arguments, _ throws(EvaluationError) in
            .string(change(Conversion.text(arguments[0])))
        }
    }

    private static func joined(_ parts: [String], by separator: String) throws(EvaluationError) -> JSONValue {
        let (gaps, overflow) = separator.utf8.count.multipliedReportingOverflow(by: max(0, parts.count - 1))
        let length = parts.reduce(gaps) { $0 + $1.utf8.count }
        guard !overflow, length <= ExpressionLimits.stringBytes else {
            throw Conversion.tooLong
        }
        return .string(parts.joined(separator: separator))
    }

    /// As JavaScript splits, but that nothing between two characters is within one of them.
    private static func split(_ text: String, by separator: String) -> [JSONValue] {
        if separator.isEmpty { return text.unicodeScalars.map { .string(String(Character($0))) } }
        let (bytes, mark) = (Array(text.utf8), Array(separator.utf8))
        var parts: [JSONValue] = []
        var start = 0
        while let place = ByteSearch.first(mark, in: bytes, from: start) {
            parts.append(.string(String(decoding: bytes[start..<place], as: UTF8.self)))
            start = place + mark.count
        }
        parts.append(.string(String(decoding: bytes[start...], as: UTF8.self)))
        return parts
    }
}

/// Finds bytes in bytes: strings are searched as UTF-8, where a character's bytes are never within another's.
enum ByteSearch {
    static func first(_ needle: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard needle.count <= bytes.count, start >= 0 else { return nil }
        guard let head = needle.first else { return start <= bytes.count ? start : nil }
        var place = start
        while place + needle.count <= bytes.count {
            if bytes[place] == head, bytes[place..<place + needle.count].elementsEqual(needle) {
                return place
            }
            place += 1
        }
        return nil
    }
}
