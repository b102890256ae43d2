// SPDX-License-Identifier: MIT
import JSON
import Protobuf
import TypedFeatures

extension FeatureStore {
    /// Writes a feature as the fields of a Feature of `proto/clusterd/v1/clusterd.proto`: its position, and a Point.
    ///
    /// - Parameters: as for `write`.
    /// - Complexity: O(the feature's text).
    public func writeMessage(
        _ index: Int, into bytes: inout ByteWriter, structProperties: Bool, selection: PropertySelection? = nil,
        precision: Int? = nil, leavingOut member: StaticString? = nil, isPinned: Bool = false
    ) {
        withRecord(index) {
            $0.writeMessage(
                into: &bytes, structProperties: structProperties, selection: selection, precision: precision,
                leavingOut: member, isPinned: isPinned)
        }
    }

    /// The same for a feature by its index among the prepared ones.
    public func writeMessage(
        _ position: Int, of prepared: PreparedFeatures, into bytes: inout ByteWriter, structProperties: Bool,
        selection: PropertySelection? = nil, precision: Int? = nil
    ) {
        prepared.records[position].writeMessage(
            into: &bytes, structProperties: structProperties, selection: selection, precision: precision,
            leavingOut: nil, isPinned: false)
    }

    /// Writes a feature's properties as a field of a Point; nothing if they are null.
    public func writePointProperties(
        _ index: Int, into bytes: inout ByteWriter, structProperties: Bool, selection: PropertySelection? = nil
    ) {
        withRecord(index) {
            $0.writeProperties(into: &bytes, structProperties: structProperties, selection: selection)
        }
    }

    /// Writes a feature's id as a field of a Point; nothing if it has none.
    public func writePointIdentifier(_ index: Int, into bytes: inout ByteWriter) {
        withRecord(index) { bytes.append(field: TypedFields.Point.id, featureID: $0.identifier) }
    }
}

extension FeatureRecord {
    fileprivate func writeMessage(
        into bytes: inout ByteWriter, structProperties: Bool, selection: PropertySelection?, precision: Int?,
        leavingOut member: StaticString?, isPinned: Bool
    ) {
        typealias Point = TypedFields.Point
        var (position, further) = ((longitude: 0.0, latitude: 0.0), [Double]())
        read(&position, &further)
        if let precision {
            // As in JSON, a zero has no sign.
            position.longitude = position.longitude.rounded(decimals: precision) + 0
            position.latitude = position.latitude.rounded(decimals: precision) + 0
            further = further.map { $0.rounded(decimals: precision) + 0 }
        }
        bytes.append(field: TypedFields.Feature.longitude, nonZero: position.longitude)
        bytes.append(field: TypedFields.Feature.latitude, nonZero: position.latitude)
        let start = bytes.beginField(TypedFields.Feature.point)
        bytes.append(field: Point.id, featureID: identifier)
        writeProperties(into: &bytes, structProperties: structProperties, selection: selection)
        bytes.append(field: Point.further, packed: further)
        if let member, !rest.isEmpty {
            var kept = ByteWriter(capacity: 64)
            Self.write(rest: rest, leavingOut: member, into: &kept)
            bytes.append(field: Point.membersJson, members: kept)
        } else {
            bytes.append(field: Point.membersJson, members: rest)
        }
        if isPinned { bytes.append(field: Point.pinned, varint: 1) }
        bytes.endField(start)
    }

    fileprivate func writeProperties(
        into bytes: inout ByteWriter, structProperties: Bool, selection: PropertySelection?
    ) {
        typealias Point = TypedFields.Point
        guard let selection, properties.first == UInt8(ascii: "{") else {
            return bytes.append(
                properties: properties, text: Point.propertiesJson, structure: Point.properties,
                structProperties: structProperties)
        }
        guard structProperties else {
            let start = bytes.beginField(Point.propertiesJson)
            Self.write(properties, selection, into: &bytes)
            return bytes.endField(start)
        }
        var kept = ByteWriter(capacity: 256)
        Self.write(properties, selection, into: &kept)
        bytes.append(field: Point.properties, structure: kept)
    }

    /// Reads all coordinates. Only the first array is read: the geometry's further members follow it.
    private func read(_ position: inout (longitude: Double, latitude: Double), _ further: inout [Double]) {
        var start = min(1, coordinates.count)
        var index = 0
        while start < coordinates.count {
            var end = start
            while end < coordinates.count, coordinates[end] != UInt8(ascii: ","), coordinates[end] != UInt8(ascii: "]")
            {
                end &+= 1
            }
            var first = start
            while first < end, coordinates[first] <= UInt8(ascii: " ") { first &+= 1 }
            var last = end
            while last > first, coordinates[last &- 1] <= UInt8(ascii: " ") { last &-= 1 }
            let number = JSONText.number(UnsafeRawBufferPointer(rebasing: coordinates[first..<last])) ?? 0
            switch index {
            case 0: position.longitude = number
            case 1: position.latitude = number
            default: further.append(number)
            }
            index &+= 1
            guard end < coordinates.count, coordinates[end] == UInt8(ascii: ",") else { return }
            start = end &+ 1
        }
    }
}
