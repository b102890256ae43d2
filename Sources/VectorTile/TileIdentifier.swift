// SPDX-License-Identifier: MIT

/// A feature's id in the form that a tile has.
public enum TileIdentifier {
    /// A feature's id from its JSON text; nil for strings, negative numbers and fractions, which a tile cannot have as ids.
    public static func parse(_ json: UnsafeRawBufferPointer) -> UInt64? {
        // Nineteen digits are always below 2^64.
        if !json.isEmpty, json.count <= 19 {
            var id: UInt64 = 0
            var areDigits = true
            for byte in json {
                let digit = byte &- UInt8(ascii: "0")
                areDigits = areDigits && digit < 10
                id = id &* 10 &+ UInt64(digit)
            }
            if areDigits { return id }
        } else if json.count == 20, json.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return UInt64(String(decoding: json, as: UTF8.self))
        }
        switch NumberText.parse(json) {
        case .whole(let id): return UInt64(exactly: id)
        case .large(let id): return id
        case .double(let id): return UInt64(exactly: id)
        case nil: return nil
        }
    }
}
