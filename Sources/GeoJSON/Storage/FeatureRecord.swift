// SPDX-License-Identifier: MIT
import JSON

/// One feature in a blob: four texts of JSON, each as it was sent.
///
/// The layout is three lengths (id, coordinates, rest), then id, coordinates, rest (further members, each
/// after a comma) and properties, whose length is the remainder. After the coordinates' bracket are the
/// geometry's own further members, each after a comma.
///
/// A promoted id (`promoteId`) is stored with the sent one: a zero byte, the id, a zero byte, the
/// sent id. JSON text contains no zero byte.
struct FeatureRecord {
    /// The effective id.
    let identifier: UnsafeRawBufferPointer
    /// The id that was sent.
    let sentIdentifier: UnsafeRawBufferPointer
    let coordinates: UnsafeRawBufferPointer
    let rest: UnsafeRawBufferPointer
    let properties: UnsafeRawBufferPointer

    /// The record of a missing feature.
    static var empty: FeatureRecord { FeatureRecord(UnsafeRawBufferPointer(start: nil, count: 0), 0..<0) }

    /// - Parameter range: a complete record in a text. Lengths beyond its end are clamped.
    @inline(__always) init(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) {
        let bytes = UnsafeRawBufferPointer(rebasing: text[range])
        var offset = 0
        let (identifierLength, coordinatesLength, restLength): (Int, Int, Int)
        // Usually all three lengths take one byte. Without branches to predict, the processor can read ahead.
        if bytes.count >= 3, (bytes[0] | bytes[1] | bytes[2]) < 128 {
            (identifierLength, coordinatesLength, restLength) = (Int(bytes[0]), Int(bytes[1]), Int(bytes[2]))
            offset = 3
        } else {
            identifierLength = Self.length(bytes, &offset)
            coordinatesLength = Self.length(bytes, &offset)
            restLength = Self.length(bytes, &offset)
        }
        let identifier = Self.part(bytes, &offset, identifierLength)
        if identifier.first == 0 {
            (self.identifier, sentIdentifier) = Self.promoted(identifier)
        } else {
            (self.identifier, sentIdentifier) = (identifier, identifier)
        }
        coordinates = Self.part(bytes, &offset, coordinatesLength)
        rest = Self.part(bytes, &offset, restLength)
        properties = UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    /// The beginning of a record with a promoted id; empty for a sent id.
    static func identifier(promoted: UnsafeRawBufferPointer, sent: UnsafeRawBufferPointer) -> [UInt8] {
        [0] + promoted + [0] + sent
    }

    private static func promoted(_ field: UnsafeRawBufferPointer) -> (UnsafeRawBufferPointer, UnsafeRawBufferPointer) {
        let rest = UnsafeRawBufferPointer(rebasing: field.dropFirst())
        let end = rest.firstIndex(of: 0) ?? rest.count
        return (
            UnsafeRawBufferPointer(rebasing: rest[..<end]),
            UnsafeRawBufferPointer(rebasing: rest[min(end + 1, rest.count)...])
        )
    }

    @inline(__always) private static func length(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Int {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count, shift < 56 {
            let byte = bytes[offset]
            offset &+= 1
            value |= UInt64(byte & 127) &<< shift
            if byte < 128 { break }
            shift &+= 7
        }
        return Int(truncatingIfNeeded: value)
    }

    @inline(__always) private static func part(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ length: Int
    ) -> UnsafeRawBufferPointer {
        let end = min(bytes.count, offset &+ length)
        defer { offset = end }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
    }
}

extension FeatureRecord {
    /// The first two coordinates, in degrees; 0 for an empty record.
    var coordinateNumbers: (longitude: Double, latitude: Double) {
        guard !coordinates.isEmpty else { return (0, 0) }
        var offset = 1
        let longitude = Self.number(coordinates, &offset)
        return (longitude, Self.number(coordinates, &offset))
    }

    /// The number that starts at or after `offset`, which advances past the comma that ends it.
    private static func number(_ text: UnsafeRawBufferPointer, _ offset: inout Int) -> Double {
        while offset < text.count, text[offset] <= UInt8(ascii: " ") { offset += 1 }
        let start = offset
        while offset < text.count, text[offset] != UInt8(ascii: ","), text[offset] != UInt8(ascii: "]"),
            text[offset] > UInt8(ascii: " ")
        { offset += 1 }
        let number = JSONText.number(UnsafeRawBufferPointer(rebasing: text[start..<offset])) ?? 0
        while offset < text.count, text[offset] != UInt8(ascii: ",") { offset += 1 }
        offset = min(offset + 1, text.count)
        return number
    }
}
