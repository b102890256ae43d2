// SPDX-License-Identifier: MIT
import JSON

/// A param of a method: parsing and its errors, the queries of HTTP, flags of `clusterctl` and the tables of the
/// documentation derive from it.
public final class ParamDeclaration: Sendable {
    /// The name in JSON and in query strings, such as `maxRateHz`.
    public let name: String
    let nameBytes: [UInt8]
    public let type: ParamType
    /// What its number counts, such as `decimals`; nil if the help or the type says it.
    public let unit: String?
    /// Whether a call without it fails.
    public let isRequired: Bool
    /// The value if it is left out; nil if it is required, or if leaving it out has a meaning of its own.
    public let standard: JSONValue?
    /// What leaving it out means, where no value says it: `all`.
    public let standardInWords: String?
    /// What it is, as a noun phrase or in the imperative, without a full stop and without type and default.
    public let help: String

    public init(
        _ name: String, _ type: ParamType, unit: String? = nil, isRequired: Bool = false,
        default standard: JSONValue? = nil, defaultInWords standardInWords: String? = nil, _ help: String
    ) {
        self.name = name
        nameBytes = Array(name.utf8)
        self.type = type
        self.unit = unit
        self.isRequired = isRequired
        self.standard = standard
        self.standardInWords = standardInWords
        self.help = help
    }

    /// The flag of `clusterctl` that stands for it, without dashes: `max-rate-hz`.
    public var flagName: String {
        name.reduce(into: "") { flag, letter in flag += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    /// The default as help shows it; nil if there is none.
    public var shownStandard: String? {
        if case .string(let word)? = standard { return standardInWords ?? word }
        return standardInWords ?? standard?.text
    }
}

extension ParamDeclaration {
    /// The declaration as documents and clients' types are generated from it.
    var json: JSONValue {
        var object: JSONObject = ["name": .string(name), "type": .string(type.name), "required": .bool(isRequired)]
        object["unit"] = unit.map { .string($0) }
        object["default"] = standard
        object["defaultInWords"] = standardInWords.map { .string($0) }
        object["help"] = .string(help)
        return .object(object)
    }
}

/// The type of a param: which JSON values it has, and how a text stands for one.
public enum ParamType: Sendable, Equatable {
    case sourceName
    case string
    case boolean
    /// Both ends are valid.
    case integer(ClosedRange<Int64>)
    /// Any finite number without a range.
    case number(ClosedRange<Double>?)
    /// `[west, south, east, north]`.
    case box
    case strings
    case numbers
    /// One of these words.
    case word([String])
    /// Some of these words.
    case words([String])
    case expression
    /// A number or a string. It is read from its text, because a parsed number loses digits of long integers.
    case featureID
    case featureIDs
    /// `{"property": [from, to]}`; in a text `property,from,to`, with nothing for null.
    case window
    /// GeoJSON features. Only their text is kept.
    case features
    case object
    /// Any JSON value.
    case value
    /// The number of a source's data.
    case revision
    /// A position in the log that a source follows.
    case logPosition

    /// All integers that JSON's numbers can carry.
    public static let anyInteger = ParamType.integer(-(1 << 53)...(1 << 53))
    /// All integers from 0 that JSON's numbers can carry.
    public static let count = ParamType.integer(0...(1 << 53))

    /// The range of an integer; nil of other types.
    public var integers: ClosedRange<Int64>? {
        switch self {
        case .integer(let range): range
        case .revision: 0...(1 << 53)
        default: nil
        }
    }

    /// Whether it is read from the params' text as sent.
    var needsText: Bool { self == .features || self == .featureID || self == .featureIDs }

    /// The type in words, for documents and errors: `integer from 0 to 15`.
    public var name: String {
        switch self {
        case .sourceName: "source's name"
        case .string: "string"
        case .boolean: "boolean"
        case .integer(let range):
            if self == .anyInteger {
                "integer"
            } else if self == .count {
                "integer from 0"
            } else {
                "integer from \(range.lowerBound) to \(range.upperBound)"
            }
        case .number(let range?):
            "number from \(String(javaScript: range.lowerBound)) to \(String(javaScript: range.upperBound))"
        case .number(nil): "number"
        case .box: "[west, south, east, north]"
        case .strings: "list of strings"
        case .numbers: "list of numbers"
        case .word(let words): Self.list(words, "or")
        case .words(let words): "list of \(Self.list(words, "and"))"
        case .expression: "expression"
        case .featureID: "number or string"
        case .featureIDs: "list of numbers or strings"
        case .features: "list of features"
        case .window: "property and range"
        case .object: "object"
        case .value: "any value"
        case .revision: "revision"
        case .logPosition: "position"
        }
    }

    /// What an error says was expected: `an integer`.
    public var expected: String {
        switch self {
        case .sourceName, .string, .word, .logPosition: "a string"
        case .boolean: "true or false"
        case .integer, .revision: "an integer"
        case .number: "a number"
        case .box, .strings, .numbers, .words, .featureIDs, .features: "an array"
        case .expression, .value: "an expression"
        case .featureID: "a number or a string"
        case .object, .window: "an object"
        }
    }

    /// `"a", "b" or "c"`.
    public static func list(_ words: [String], _ conjunction: String) -> String {
        let quoted = words.map { "\"\($0)\"" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
        return "\(quoted.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }

    /// The value for which a text stands in a query string or a flag. A text that is no value of the type stays a
    /// string, so that the daemon rejects it like the same value in JSON. Throws if JSON is expected and the text is
    /// none.
    public func value(of text: String) throws(JSONError) -> JSONValue {
        switch self {
        case .integer, .number, .revision: Self.number(text)
        case .boolean: text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
        case .box, .numbers:
            .array(
                text.split(separator: ",", omittingEmptySubsequences: false).map { Self.number(String($0)) })
        case .window: Self.window(text)
        case .strings, .words: .array(text.split(separator: ",").map { .string(String($0)) })
        case .featureIDs: .array(Self.ids(text).map(\.value))
        case .expression, .features, .object, .value: try JSONReader.parse(text)
        case .sourceName, .string, .word, .featureID, .logPosition: .string(text)
        }
    }

    /// The JSON of a text that is read from the params' text as sent, with all digits of numbers; nil for other types.
    public func exactJSON(of text: String) -> String? {
        guard case .featureIDs = self else { return nil }
        return "[\(Self.ids(text).map(\.json).joined(separator: ","))]"
    }

    /// Ids between commas: a number in JSON's grammar, otherwise a string. In double quotes it is always a string, which
    /// may have commas.
    private static func ids(_ text: String) -> [(value: JSONValue, json: String)] {
        let list = "[\(text)]"
        if text.utf8.contains(UInt8(ascii: "\"")), case .array(let values)? = try? JSONReader.parse(list),
            let texts = JSONText.elements(ofValidated: Array(list.utf8)), texts.count == values.count
        {
            return zip(values, texts).map { ($0, String(decoding: $1, as: UTF8.self)) }
        }
        return text.split(separator: ",").map { part in
            let value = number(String(part))
            if case .number = value { return (value, String(part)) }
            return (value, value.text)
        }
    }

    private static func window(_ text: String) -> JSONValue {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return .string(text) }
        return .object([parts[0]: .array(parts.dropFirst().map { $0.isEmpty ? .null : Self.number($0) })])
    }

    private static func number(_ text: String) -> JSONValue {
        NumberText.value(text).map { .number($0) } ?? .string(text)
    }
}
