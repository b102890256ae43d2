// SPDX-License-Identifier: MIT
import JSON

/// Reads members of the catalog's JSON. A member that is missing or of another type is read as the type's
/// empty value.
extension JSONValue {
    /// A member; nil if it is missing or null.
    func member(_ key: String) -> JSONValue? {
        guard case .object(let object) = self, let value = object[key], value != .null else { return nil }
        return value
    }

    func text(_ key: String) -> String {
        if case .string(let text)? = member(key) { text } else { "" }
    }

    func flag(_ key: String) -> Bool { member(key) == .bool(true) }

    func integer(_ key: String) -> Int {
        if case .number(let number)? = member(key) { Int(exactly: number) ?? 0 } else { 0 }
    }

    func oid(_ key: String) -> UInt32 { UInt32(exactly: integer(key)) ?? 0 }

    func list(_ key: String) -> [JSONValue] {
        if case .array(let values)? = member(key) { values } else { [] }
    }
}
