// SPDX-License-Identifier: MIT
import JSON

/// Finds the start of a collection's features.
enum CollectionHead {
    /// The offset after the features' opening bracket.
    case features(Int)
    /// The first object's "features" is not an array.
    case oddFeatures
    /// The object is TopoJSON.
    case topology
    /// The first object has no features.
    case otherObject
    /// The first object is a Feature.
    case feature
    /// More text is needed.
    case incomplete

    /// - Parameter start: the offset of the object's brace.
    static func find(in text: UnsafeRawBufferPointer, from start: Int) -> CollectionHead {
        var cursor = Cursor(text: text, place: start + 1)
        while true {
            cursor.skipSpaceAndComma()
            guard let first = cursor.byte else { return .incomplete }
            guard first == UInt8(ascii: "\"") else { return .otherObject }
            guard let key = cursor.value() else { return .incomplete }
            cursor.skipSpace()
            guard let colon = cursor.byte else { return .incomplete }
            guard colon == UInt8(ascii: ":") else { return .otherObject }
            cursor.place += 1
            cursor.skipSpace()
            guard let opening = cursor.byte else { return .incomplete }
            if isName(key, "features") {
                return opening == UInt8(ascii: "[") ? .features(cursor.place + 1) : .oddFeatures
            }
            guard let value = cursor.value() else { return .incomplete }
            if isName(key, "type") {
                if isName(value, "Feature") { return .feature }
                if isName(value, "Topology") { return .topology }
            }
        }
    }

    /// The offset after the opening bracket of an object's first array of objects with positions, as `{"data": [...]}`
    /// has; nil if there is none.
    static func records(
        in text: UnsafeRawBufferPointer, from start: Int, _ columns: TableColumns
    ) -> (Int, RecordMembers)? {
        var cursor = Cursor(text: text, place: start + 1)
        while true {
            cursor.skipSpaceAndComma()
            guard cursor.byte == UInt8(ascii: "\""), cursor.value() != nil else { return nil }
            cursor.skipSpace()
            guard cursor.byte == UInt8(ascii: ":") else { return nil }
            cursor.place += 1
            cursor.skipSpace()
            if cursor.byte == UInt8(ascii: "[") {
                let rest = UnsafeRawBufferPointer(rebasing: text[(cursor.place + 1)...])
                if let members = RecordMembers(first: rest, columns) { return (cursor.place + 1, members) }
            }
            guard cursor.value() != nil else { return nil }
        }
    }

    /// Whether a JSON text is a string with this content, possibly with escapes.
    private static func isName(_ text: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        let inside = text.dropFirst().dropLast()
        if inside.elementsEqual("\(name)".utf8) { return true }
        guard inside.contains(UInt8(ascii: "\\")), inside.count <= name.utf8CodeUnitCount * 6 else {
            return false
        }
        return (try? JSONReader.parse(text)) == .string("\(name)")
    }

    private struct Cursor {
        let text: UnsafeRawBufferPointer
        var place: Int

        var byte: UInt8? { place < text.count ? text[place] : nil }

        mutating func skipSpace() {
            while place < text.count, text[place] <= UInt8(ascii: " ") { place += 1 }
        }

        mutating func skipSpaceAndComma() {
            skipSpace()
            if byte == UInt8(ascii: ",") {
                place += 1
                skipSpace()
            }
        }

        /// Skips a value and returns its text; nil if it does not end within the text.
        mutating func value() -> UnsafeRawBufferPointer? {
            let start = place
            switch byte {
            case UInt8(ascii: "\""): guard skipString() else { return nil }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                var scanner = JSONScanner()
                let rest = UnsafeRawBufferPointer(rebasing: text[place...])
                guard let length = scanner.scan(rest, toDepth: 0) else { return nil }
                place += length
            default:
                let ends = [UInt8(ascii: ","), UInt8(ascii: "}")]
                guard let end = text[place...].firstIndex(where: ends.contains) else { return nil }
                place = end
            }
            return UnsafeRawBufferPointer(rebasing: text[start..<place])
        }

        private mutating func skipString() -> Bool {
            place += 1
            while let byte {
                place += byte == UInt8(ascii: "\\") ? 2 : 1
                if byte == UInt8(ascii: "\"") { return true }
            }
            return false
        }
    }
}
