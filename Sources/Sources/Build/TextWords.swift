// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// Examines text eight bytes at a time. Never reads outside the given buffers.
package enum TextWords {
    /// Whether `count` bytes at both addresses are equal.
    @inline(__always) package static func areEqual(
        _ first: UnsafeRawPointer, _ second: UnsafeRawPointer, _ count: Int
    ) -> Bool {
        var place = 0
        while place &+ 8 <= count {
            guard word(first, place) == word(second, place) else { return false }
            place &+= 8
        }
        if place == count { return true }
        // The last word overlaps the one before.
        if count >= 8 { return word(first, count &- 8) == word(second, count &- 8) }
        while place < count {
            guard
                first.load(fromByteOffset: place, as: UInt8.self)
                    == second.load(fromByteOffset: place, as: UInt8.self)
            else { return false }
            place &+= 1
        }
        return true
    }

    /// The end of a string that starts at `place`, after its quotation mark; nil if it has escapes, or if
    /// the text ends first.
    @inline(__always) package static func endOfPlainString(_ text: UnsafeRawBufferPointer, from place: Int)
        -> Int?
    {
        guard let base = text.baseAddress else { return nil }
        var place = place &+ 1
        while place &+ 8 <= text.count {
            let word = word(base, place)
            let hits = zeroBytes(word ^ quotes) | zeroBytes(word ^ backslashes)
            if hits != 0 {
                place &+= hits.trailingZeroBitCount &>> 3
                return text[place] == UInt8(ascii: "\"") ? place &+ 1 : nil
            }
            place &+= 8
        }
        while place < text.count {
            if text[place] == UInt8(ascii: "\"") { return place &+ 1 }
            if text[place] == UInt8(ascii: "\\") { return nil }
            place &+= 1
        }
        return nil
    }

    /// The end of a number or literal that starts at `place`: a comma, a brace or white space.
    @inline(__always) package static func endOfScalar(_ text: UnsafeRawBufferPointer, from place: Int) -> Int
    {
        guard let base = text.baseAddress else { return place }
        var place = place
        while place &+ 8 <= text.count {
            let word = word(base, place)
            let hits = zeroBytes(word ^ commas) | zeroBytes(word ^ braces) | spaces(word)
            if hits != 0 { return place &+ hits.trailingZeroBitCount &>> 3 }
            place &+= 8
        }
        while place < text.count, text[place] != UInt8(ascii: ","), text[place] != UInt8(ascii: "}"),
            text[place] > UInt8(ascii: " ")
        {
            place &+= 1
        }
        return place
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
