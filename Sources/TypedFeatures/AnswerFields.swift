// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// Fields without presence: a value of zero is left out, as protobuf's own writers do.
extension ByteWriter {
    @inlinable @inline(__always) public mutating func append(field number: Int, nonZero value: UInt64) {
        if value != 0 { append(field: number, varint: value) }
    }

    @inlinable @inline(__always) public mutating func append(field number: Int, nonZero value: Double) {
        // A zero with a sign is not zero.
        if value.bitPattern != 0 { append(field: number, double: value) }
    }

    @inlinable @inline(__always) public mutating func append(field number: Int, double value: Double) {
        append(field: number, fixed64: value.bitPattern)
    }

    /// Appends numbers as a packed field; nothing if there are none.
    package mutating func append(field number: Int, packed values: [Double]) {
        guard !values.isEmpty else { return }
        append(field: number, .lengthDelimited)
        append(varint: UInt64(values.count * 8))
        for value in values { append(fixed64: value.bitPattern) }
    }

    /// Appends the last fields of an answer, which identify its data.
    package mutating func appendVersion(revision: UInt64, position: String?) {
        append(field: TypedFields.Answer.revision, nonZero: revision)
        if let position { append(field: TypedFields.Answer.position, text: position) }
    }
}

/// Parts of a point or a cluster whose text is copied.
extension ByteWriter {
    /// Appends properties in the form that was asked for; nothing if they are null.
    ///
    /// - Parameters:
    ///   - text: the field for JSON text.
    ///   - structure: the field for google.protobuf.Struct.
    package mutating func append(
        properties: UnsafeRawBufferPointer, text: Int, structure: Int, structProperties: Bool
    ) {
        guard properties.first == UInt8(ascii: "{") else { return }
        if structProperties {
            append(field: structure, structure: properties)
        } else {
            append(field: text, bytes: properties)
        }
    }

    package mutating func append(
        properties: borrowing ByteWriter, text: Int, structure: Int, structProperties: Bool
    ) {
        properties.withUnsafeBytes {
            append(properties: $0, text: text, structure: structure, structProperties: structProperties)
        }
    }

    /// Appends members, each after a comma, as the text of an object; nothing if there are none.
    package mutating func append(field number: Int, members: UnsafeRawBufferPointer) {
        guard !members.isEmpty else { return }
        let start = beginField(number)
        append("{")
        append(contentsOf: UnsafeRawBufferPointer(rebasing: members.dropFirst()))
        append("}")
        endField(start)
    }

    package mutating func append(field number: Int, members: borrowing ByteWriter) {
        members.withUnsafeBytes { append(field: number, members: $0) }
    }
}
