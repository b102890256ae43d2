// SPDX-License-Identifier: MIT
import JSON

extension JSONValue {
    package var asObject: JSONObject? { if case .object(let object) = self { object } else { nil } }
    package var asArray: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    package var asString: String? { if case .string(let text) = self { text } else { nil } }
    package var asNumber: Double? { if case .number(let number) = self { number } else { nil } }
    package var asInteger: Int? { asNumber.flatMap { Int(exactly: $0) } }
    package var asBool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// The member of an object; nil for anything else.
    package subscript(key: String) -> JSONValue? { asObject?[key] }
}
