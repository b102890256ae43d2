// SPDX-License-Identifier: MIT

/// Examines text eight bytes at a time. Never reads outside the given buffers.
package enum TextWords {
    /// Whether `count` bytes at both addresses are equal.
    @inline(__always) package static func areEqual(
        _ first: UnsafeRawPointer, _ second: UnsafeRawPointer, _ count: Int
    ) -> Bool {
        var position = 0
        while position &+ 8 <= count {
            guard word(first, position) == word(second, position) else { return false }
            position &+= 8
        }
        if position == count { return true }
        // The last word overlaps the one before.
        if count >= 8 { return word(first, count &- 8) == word(second, count &- 8) }
        while position < count {
            guard
                first.load(fromByteOffset: position, as: UInt8.self)
                    == second.load(fromByteOffset: position, as: UInt8.self)
            else { return false }
            position &+= 1
        }
        return true
    }

    /// The end of a string that starts at `position`, after its quotation mark; nil if it has escapes, or if
    /// the text ends first.
    @inline(__always) package static func endOfPlainString(_ text: UnsafeRawBufferPointer, from position: Int)
        -> Int?
    {
        guard let base = text.baseAddress else { return nil }
        var position = position &+ 1
        while position &+ 8 <= text.count {
            let word = word(base, position)
            let hits = zeroBytes(word ^ quotes) | zeroBytes(word ^ backslashes)
            if hits != 0 {
                position &+= hits.trailingZeroBitCount &>> 3
                return text[position] == UInt8(ascii: "\"") ? position &+ 1 : nil
            }
            position &+= 8
        }
        while position < text.count {
            if text[position] == UInt8(ascii: "\"") { return position &+ 1 }
            if text[position] == UInt8(ascii: "\\") { return nil }
            position &+= 1
        }
        return nil
    }

    /// The end of a number or literal that starts at `position`: a comma, a brace or white space.
    @inline(__always) package static func endOfScalar(_ text: UnsafeRawBufferPointer, from position: Int)
        -> Int
    {
        guard let base = text.baseAddress else { return position }
        var position = position
        while position &+ 8 <= text.count {
            let word = word(base, position)
            let hits = zeroBytes(word ^ commas) | zeroBytes(word ^ braces) | spaces(word)
            if hits != 0 { return position &+ hits.trailingZeroBitCount &>> 3 }
            position &+= 8
        }
        while position < text.count, text[position] != UInt8(ascii: ","), text[position] != UInt8(ascii: "}"),
            text[position] > UInt8(ascii: " ")
        {
            position &+= 1
        }
        return position
    }

    private static let quotes: UInt64 = 0x2222_2222_2222_2222
    private static let backslashes: UInt64 = 0x5c5c_5c5c_5c5c_5c5c
    private static let commas: UInt64 = 0x2c2c_2c2c_2c2c_2c2c
    private static let braces: UInt64 = 0x7d7d_7d7d_7d7d_7d7d

    @inline(__always) private static func word(_ start: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The lowest set bit is in the lowest zero byte; 0 if no byte is zero.
    @inline(__always) private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// The same for bytes not above a space.
    @inline(__always) private static func spaces(_ word: UInt64) -> UInt64 {
        (word &- 0x2121_2121_2121_2121) & ~word & 0x8080_8080_8080_8080
    }
}
