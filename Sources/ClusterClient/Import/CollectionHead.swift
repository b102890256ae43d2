// SPDX-License-Identifier: MIT
import JSON

/// Finds where a FeatureCollection's features begin.
enum CollectionHead: Equatable {
    /// The offset behind the opening bracket of `features`.
    case features(Int)
    /// The object has no array of features, or says that it is a Feature itself.
    case otherObject
    /// More text is needed.
    case incomplete

    /// - Parameter from: where the object's brace is.
    static func find(in text: UnsafeRawBufferPointer, from: Int) -> CollectionHead {
        var cursor = Cursor(text: text, place: from + 1)
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
            if key.elementsEqual("\"features\"".utf8) {
                return opening == UInt8(ascii: "[") ? .features(cursor.place + 1) : .otherObject
            }
            guard let value = cursor.value() else { return .incomplete }
            if key.elementsEqual("\"type\"".utf8), value.elementsEqual("\"Feature\"".utf8) {
                return .otherObject
            }
        }
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

        /// Passes a value and returns its text; nil where it does not end within the text.
        mutating func value() -> Slice<UnsafeRawBufferPointer>? {
            let start = place
            switch byte {
            case UInt8(ascii: "\""): guard skipString() else { return nil }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                var scanner = JSONScanner()
                guard let length = scanner.scan(UnsafeRawBufferPointer(rebasing: text[place...]), toDepth: 0)
                else { return nil }
                place += length
            default:
                let ends = [UInt8(ascii: ","), UInt8(ascii: "}")]
                guard let end = text[place...].firstIndex(where: ends.contains) else { return nil }
                place = end
            }
            return text[start..<place]
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
