// SPDX-License-Identifier: MIT

/// Iterates over the members of a validated object's text, key by key, without a tape.
public struct JSONMembers: Sequence, IteratorProtocol {
    private let text: UnsafeRawBufferPointer
    /// The offset in the object's text: after the opening brace, or after a value.
    public private(set) var offset: Int

    /// - Parameters:
    ///   - object: the text of a JSON object, already validated, starting at its brace.
    ///   - offset: the offset at which to begin: after the opening brace, or after one of the object's
    ///     values.
    public init(ofValidated object: UnsafeRawBufferPointer, from offset: Int = 1) {
        text = object
        self.offset = offset
    }

    /// Returns a key's text between its quotation marks, including escapes, and its value's text.
    public mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        skipSpace()
        if offset < text.count, text[offset] == UInt8(ascii: ",") {
            offset += 1
            skipSpace()
        }
        guard offset < text.count, text[offset] == UInt8(ascii: "\"") else { return nil }
        let keyStart = offset + 1
        skipString()
        let key = UnsafeRawBufferPointer(rebasing: text[keyStart..<Swift.max(keyStart, offset - 1)])
        skipSpace()
        offset += 1
        skipSpace()
        guard offset < text.count else { return nil }
        let valueStart = offset
        skipValue()
        return (key, UnsafeRawBufferPointer(rebasing: text[valueStart..<offset]))
    }

    /// Returns the text of an array's next element, if `text` is an array.
    mutating func nextElement() -> UnsafeRawBufferPointer? {
        skipSpace()
        if offset < text.count, text[offset] == UInt8(ascii: ",") {
            offset += 1
            skipSpace()
        }
        guard offset < text.count, text[offset] != UInt8(ascii: "]") else { return nil }
        let start = offset
        skipValue()
        return offset > start ? UnsafeRawBufferPointer(rebasing: text[start..<offset]) : nil
    }

    private mutating func skipSpace() {
        while offset < text.count, text[offset] <= UInt8(ascii: " ") { offset += 1 }
    }

    private mutating func skipString() {
        offset += 1
        while offset < text.count {
            skipPlain()
            guard offset < text.count else { break }
            if text[offset] == UInt8(ascii: "\"") {
                offset += 1
                return
            }
            offset += text[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        offset = text.count
    }

    /// Skips ahead, eight bytes at a time, to the first byte that may be a quotation mark or a backslash.
    @inline(__always) private mutating func skipPlain() {
        while offset + 8 <= text.count {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let hits =
                Self.zeroBytes(word ^ 0x2222_2222_2222_2222) | Self.zeroBytes(word ^ 0x5c5c_5c5c_5c5c_5c5c)
            if hits != 0 {
                offset += hits.trailingZeroBitCount / 8
                return
            }
            offset += 8
        }
    }

    /// Marks zero bytes: the lowest bit set is in the lowest zero byte; no bit is set if there is none.
    @inline(__always) private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    private mutating func skipValue() {
        switch text[offset] {
        case UInt8(ascii: "\""): skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var scanner = JSONScanner()
            let rest = UnsafeRawBufferPointer(rebasing: text[offset...])
            offset += scanner.scan(rest, toDepth: 0) ?? rest.count
        default:
            while offset < text.count {
                switch text[offset] {
                case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...UInt8(ascii: " "): return
                default: offset += 1
                }
            }
        }
    }
}

/// Iterates over the texts of a JSON array's elements.
public struct JSONElements: Sequence, IteratorProtocol {
    private var scanner: JSONMembers

    /// - Parameter array: the text of a JSON array, already validated, starting at its bracket. The initialiser
    ///   returns nil if it is not an array.
    public init?(ofValidated array: UnsafeRawBufferPointer) {
        guard array.first == UInt8(ascii: "[") else { return nil }
        scanner = JSONMembers(ofValidated: array)
    }

    public mutating func next() -> UnsafeRawBufferPointer? { scanner.nextElement() }
}
