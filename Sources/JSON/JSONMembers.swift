// SPDX-License-Identifier: MIT

/// Iterates over the members of a validated object's text, key by key, without a tape.
public struct JSONMembers: Sequence, IteratorProtocol {
    private let text: UnsafeRawBufferPointer
    /// The offset in the object's text: after the opening brace, or after a value.
    public private(set) var place: Int

    /// - Parameters:
    ///   - object: the text of a JSON object, already validated, starting at its brace.
    ///   - place: the offset at which to begin: after the opening brace, or after one of the object's values.
    public init(ofValidated object: UnsafeRawBufferPointer, from place: Int = 1) {
        text = object
        self.place = place
    }

    /// Returns a key's text between its quotation marks, including escapes, and its value's text.
    public mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        skipSpace()
        if place < text.count, text[place] == UInt8(ascii: ",") {
            place += 1
            skipSpace()
        }
        guard place < text.count, text[place] == UInt8(ascii: "\"") else { return nil }
        let keyStart = place + 1
        skipString()
        let key = UnsafeRawBufferPointer(rebasing: text[keyStart..<Swift.max(keyStart, place - 1)])
        skipSpace()
        place += 1
        skipSpace()
        guard place < text.count else { return nil }
        let valueStart = place
        skipValue()
        return (key, UnsafeRawBufferPointer(rebasing: text[valueStart..<place]))
    }

    /// Returns the text of an array's next element, if `text` is an array.
    mutating func nextElement() -> UnsafeRawBufferPointer? {
        skipSpace()
        if place < text.count, text[place] == UInt8(ascii: ",") {
            place += 1
            skipSpace()
        }
        guard place < text.count, text[place] != UInt8(ascii: "]") else { return nil }
        let start = place
        skipValue()
        return place > start ? UnsafeRawBufferPointer(rebasing: text[start..<place]) : nil
    }

    private mutating func skipSpace() {
        while place < text.count, text[place] <= UInt8(ascii: " ") { place += 1 }
    }

    private mutating func skipString() {
        place += 1
        while place < text.count {
            skipPlain()
            guard place < text.count else { break }
            if text[place] == UInt8(ascii: "\"") {
                place += 1
                return
            }
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place = text.count
    }

    /// Skips ahead, eight bytes at a time, to the first byte that may be a quotation mark or a backslash.
    @inline(__always) private mutating func skipPlain() {
        while place + 8 <= text.count {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let hits =
                Self.zeroBytes(word ^ 0x2222_2222_2222_2222) | Self.zeroBytes(word ^ 0x5c5c_5c5c_5c5c_5c5c)
            if hits != 0 {
                place += hits.trailingZeroBitCount / 8
                return
            }
            place += 8
        }
    }

    /// Marks zero bytes: the lowest bit set is in the lowest zero byte; no bit is set if there is none.
    @inline(__always) private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    private mutating func skipValue() {
        switch text[place] {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var scanner = JSONScanner()
            let rest = UnsafeRawBufferPointer(rebasing: text[place...])
            place += scanner.scan(rest, toDepth: 0) ?? rest.count
        default:
            while place < text.count {
                switch text[place] {
                case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...UInt8(ascii: " "): return
                default: place += 1
                }
            }
        }
    }
}
