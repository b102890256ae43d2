// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// The texts of a feature, from which a Point is written: each as it was sent, empty if there is none.
package struct PointTexts {
    /// A number or a string.
    package var identifier: UnsafeRawBufferPointer
    /// An object or null.
    package var properties: UnsafeRawBufferPointer
    /// Members, each after a comma.
    package var members: UnsafeRawBufferPointer

    package init(
        identifier: UnsafeRawBufferPointer, properties: UnsafeRawBufferPointer, members: UnsafeRawBufferPointer
    ) {
        (self.identifier, self.properties, self.members) = (identifier, properties, members)
    }

    /// Writes the fields of a Point.
    ///
    /// - Parameter further: the third and further coordinates.
    package func write(
        structProperties: Bool, further: [Double] = [], into bytes: inout ByteWriter
    ) {
        bytes.append(field: TypedFields.Point.id, featureID: identifier)
        bytes.append(
            properties: properties, text: TypedFields.Point.propertiesJson,
            structure: TypedFields.Point.properties, structProperties: structProperties)
        bytes.append(field: TypedFields.Point.further, packed: further)
        guard !members.isEmpty else { return }
        let start = bytes.beginField(TypedFields.Point.membersJson)
        bytes.append("{")
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: members.dropFirst()))
        bytes.append("}")
        bytes.endField(start)
    }
}

extension ByteWriter {
    /// Appends properties in the form that was asked for; nothing if they are null.
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
}
