// SPDX-License-Identifier: MIT
import JSON
import Protobuf

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

    /// Appends members, each after a comma, as the text of an object; nothing if there are none.
    package mutating func append(field number: Int, members: UnsafeRawBufferPointer) {
        guard !members.isEmpty else { return }
        let start = beginField(number)
        append("{")
        append(contentsOf: UnsafeRawBufferPointer(rebasing: members.dropFirst()))
        append("}")
        endField(start)
    }
}
