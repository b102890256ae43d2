// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// Writes JSON as google.protobuf.Struct. The text is known to be JSON, and so not to be nested too deeply.
extension ByteWriter {
    /// Appends an object as a Struct.
    package mutating func append(field number: Int, structure object: UnsafeRawBufferPointer) {
        let start = beginField(number)
        for (key, value) in JSONMembers(ofValidated: object) {
            let entry = beginField(TypedFields.Struct.fields)
            if key.contains(UInt8(ascii: "\\")) {
                append(field: TypedFields.Struct.key, text: JSONText.string(inside: key))
            } else if !key.isEmpty {
                append(field: TypedFields.Struct.key, bytes: key)
            }
            append(field: TypedFields.Struct.value, value: value)
            endField(entry)
        }
        endField(start)
    }

    package mutating func append(field number: Int, structure object: borrowing ByteWriter) {
        object.withUnsafeBytes { append(field: number, structure: $0) }
    }

    /// Appends any JSON value as a Value.
    package mutating func append(field number: Int, value json: UnsafeRawBufferPointer) {
        let start = beginField(number)
        switch json.first {
        case UInt8(ascii: "{"): append(field: TypedFields.Struct.structValue, structure: json)
        case UInt8(ascii: "["):
            let list = beginField(TypedFields.Struct.listValue)
            if let elements = JSONElements(ofValidated: json) {
                for element in elements { append(field: TypedFields.Struct.values, value: element) }
            }
            endField(list)
        case UInt8(ascii: "\""): append(field: TypedFields.Struct.stringValue, string: json)
        case UInt8(ascii: "t"): append(field: TypedFields.Struct.boolValue, varint: 1)
        case UInt8(ascii: "f"): append(field: TypedFields.Struct.boolValue, varint: 0)
        case UInt8(ascii: "n"), nil: append(field: TypedFields.Struct.nullValue, varint: 0)
        default: append(field: TypedFields.Struct.numberValue, double: JSONText.number(json) ?? 0)
        }
        endField(start)
    }
}
