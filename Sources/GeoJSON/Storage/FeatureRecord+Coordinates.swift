// SPDX-License-Identifier: MIT
import JSON

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
        {
            offset += 1
        }
        let number = JSONText.number(UnsafeRawBufferPointer(rebasing: text[start..<offset])) ?? 0
        while offset < text.count, text[offset] != UInt8(ascii: ",") { offset += 1 }
        offset = min(offset + 1, text.count)
        return number
    }
}
