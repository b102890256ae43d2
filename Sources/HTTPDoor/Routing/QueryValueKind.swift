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
