// SPDX-License-Identifier: MIT

/// Finds a string in another one.
///
/// Strings are searched as UTF-8: there, a character's bytes never occur within another character's.
enum ByteSearch {
    /// The offset of the first occurrence at or after `start`; nil if there is none.
    ///
    /// An empty string occurs at `start`. O(both lengths), even for repetitive texts.
    static func first(_ text: String, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard start >= 0, start <= bytes.count else { return nil }
        var text = text
        return text.withUTF8 { text in
            guard let first = text.first else { return start }
            guard text.count <= bytes.count - start else { return nil }
            guard text.count > 1 else { return bytes[start...].firstIndex(of: first) }
            return search(text, in: bytes, from: start)
        }
    }

    /// Whether a string occurs in another one.
    static func contains(_ text: String, in other: String) -> Bool {
        var other = other
        return other.withUTF8 { first(text, in: $0, from: 0) != nil }
    }

    /// The algorithm of Knuth, Morris and Pratt: each byte is examined at most twice.
    private static func search(
        _ text: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Int? {
        let borders = borders(of: text)
        var matched = 0
        for offset in start..<bytes.count {
            while matched > 0, bytes[offset] != text[matched] { matched = Int(borders[matched - 1]) }
            if bytes[offset] == text[matched] { matched += 1 }
            if matched == text.count { return offset + 1 - matched }
        }
        return nil
    }

    /// For each prefix of the text, the length of its longest proper prefix that is also its suffix.
    private static func borders(of text: UnsafeBufferPointer<UInt8>) -> [Int32] {
        var borders: [Int32] = [0]
        borders.reserveCapacity(text.count)
        var length = 0
        for offset in 1..<text.count {
            while length > 0, text[offset] != text[length] { length = Int(borders[length - 1]) }
            if text[offset] == text[length] { length += 1 }
            borders.append(Int32(truncatingIfNeeded: length))
        }
        return borders
    }
}
