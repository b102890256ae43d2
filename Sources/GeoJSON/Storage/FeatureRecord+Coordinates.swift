// SPDX-License-Identifier: MIT
import JSON

extension FeatureRecord {
    /// The first two coordinates, in degrees; 0 for an empty record.
    var coordinateNumbers: (longitude: Double, latitude: Double) {
        guard !coordinates.isEmpty else { return (0, 0) }
        var place = 1
        let longitude = Self.number(coordinates, &place)
        return (longitude, Self.number(coordinates, &place))
    }

    /// The number that starts at or after `place`, which advances past the comma that ends it.
    private static func number(_ text: UnsafeRawBufferPointer, _ place: inout Int) -> Double {
        while place < text.count, text[place] <= UInt8(ascii: " ") { place += 1 }
        let start = place
        while place < text.count, text[place] != UInt8(ascii: ","), text[place] != UInt8(ascii: "]"),
            text[place] > UInt8(ascii: " ")
        {
            place += 1
        }
        let number = JSONText.number(UnsafeRawBufferPointer(rebasing: text[start..<place])) ?? 0
        while place < text.count, text[place] != UInt8(ascii: ",") { place += 1 }
        place = min(place + 1, text.count)
        return number
    }
}
