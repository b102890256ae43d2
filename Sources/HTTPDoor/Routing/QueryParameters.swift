// SPDX-License-Identifier: MIT
import JSON

/// How a query parameter becomes a call's param. A text that is not of its kind stays a string, so that the
/// method rejects it with its own message.
enum QueryValueKind: Sendable {
    case string
    case number
    case boolean
    /// Numbers separated by commas.
    case numbers
    /// Strings separated by commas.
    case strings
    /// A JSON text.
    case json

    func value(of text: String, name: String) throws(RequestFailure) -> JSONValue {
        switch self {
        case .string: return .string(text)
        case .number: return Self.number(text)
        case .boolean: return text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
        case .numbers:
            return .array(
                text.split(separator: ",", omittingEmptySubsequences: false).map { Self.number(String($0)) })
        case .strings:
            return .array(text.isEmpty ? [] : text.split(separator: ",").map { .string(String($0)) })
        case .json:
            do throws(JSONError) { return try JSONReader.parse(text) } catch {
                throw RequestFailure(
                    .badRequest, "The query parameter \"\(name)\" is not JSON: \(error.message)")
            }
        }
    }

    private static func number(_ text: String) -> JSONValue {
        NumberText.value(text).map { .number($0) } ?? .string(text)
    }
}

/// Numbers by JSON's grammar (RFC 8259, section 6).
enum NumberText {
    /// The number's value; nil if the text is not a JSON number, or is beyond a double's range.
    static func value(_ text: String) -> Double? {
        var rest = Substring(text).utf8[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = takeDigits(&rest)
        guard whole.count == 1 || whole.count > 1 && whole.first != UInt8(ascii: "0") else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard !takeDigits(&rest).isEmpty else { return nil }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard !takeDigits(&rest).isEmpty else { return nil }
        }
        guard rest.isEmpty, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    private static func takeDigits(_ rest: inout Substring.UTF8View.SubSequence)
        -> Substring.UTF8View.SubSequence
    {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}

/// Reads the query of a URL, given the parameters that its resource supports.
enum QueryParameters {
    typealias Known = [(name: String, kind: QueryValueKind)]

    /// Adds the parameters to a call's params. Throws an error that names a parameter that is unknown or given twice.
    static func read(
        _ query: ArraySlice<UInt8>?, known: Known, into params: inout JSONObject
    ) throws(RequestFailure) {
        guard let query else { return }
        var seen: [String] = []
        for part in query.split(separator: UInt8(ascii: "&")) {
            let mark = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = PercentEncoding.decode(part[..<mark], plusIsSpace: true),
                let text = PercentEncoding.decode(part[mark...].dropFirst(), plusIsSpace: true)
            else {
                let part = String(decoding: part.prefix(80), as: UTF8.self)
                throw RequestFailure.malformed(
                    "The query parameter \(part) is malformed: it is not percent-encoded UTF-8.")
            }
            guard let entry = known.first(where: { $0.name == name }) else {
                throw RequestFailure(
                    .badRequest, "The query parameter \"\(name)\" is unknown. \(list(known))")
            }
            guard !seen.contains(name) else {
                throw RequestFailure(.badRequest, "The query parameter \"\(name)\" is given twice.")
            }
            seen.append(name)
            params[name] = try entry.kind.value(of: text, name: name)
        }
    }

    private static func list(_ known: Known) -> String {
        known.isEmpty
            ? "There are none." : "Known are: \(known.map(\.name).sorted().joined(separator: ", "))."
    }
}
