// SPDX-License-Identifier: MIT
import CSimdjson

/// Reads JSON text value by value, without a tape. Only the ends of values are looked for.
///
/// Each step checks the end of the text: text that is not JSON gives wrong values or none, and is never read
/// past its end.
public struct JSONCursor {
    public let text: UnsafeRawBufferPointer
    public var offset: Int

    @inlinable @inline(__always) public init(_ text: UnsafeRawBufferPointer, at offset: Int = 0) {
        (self.text, self.offset) = (text, offset)
    }

    /// The current byte; nil at the end.
    @inlinable @inline(__always) public var byte: UInt8? { offset < text.count ? text[offset] : nil }

    @inlinable @inline(__always) public func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[range])
    }

    @inlinable @inline(__always) public mutating func skipSpaces() {
        while offset < text.count, text[offset] <= UInt8(ascii: " ") { offset &+= 1 }
    }

    /// Skips spaces and then a byte, if it is this one.
    @inlinable @inline(__always) public mutating func take(_ expected: UInt8) -> Bool {
        skipSpaces()
        guard byte == expected else { return false }
        offset &+= 1
        return true
    }

    /// Reads a string; nil if there is none, or if it has no end.
    ///
    /// - Returns: the content as written, and whether it has escapes.
    @inlinable @inline(__always) public mutating func string() -> (inside: Range<Int>, hasEscapes: Bool)? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        var hasEscapes = false
        while true {
            skipPlain()
            guard let byte else { break }
            if byte == UInt8(ascii: "\"") {
                offset &+= 1
                return (start..<offset &- 1, hasEscapes)
            }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                offset &+= 1
            }
            offset &+= 1
        }
        offset = text.count
        return nil
    }

    /// Skips ahead, eight bytes at a time, to the first byte that may be a quotation mark or a backslash.
    @inlinable @inline(__always) mutating func skipPlain() {
        while offset &+ 8 <= text.count {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let hits = Self.zeroBytes(word ^ 0x2222_2222_2222_2222) | Self.zeroBytes(word ^ 0x5c5c_5c5c_5c5c_5c5c)
            if hits != 0 {
                offset &+= hits.trailingZeroBitCount / 8
                return
            }
            offset &+= 8
        }
    }

    /// Marks zero bytes: the lowest bit set is in the lowest zero byte; no bit is set if there is none.
    @inlinable @inline(__always) static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Reads any value; nil if there is none, or if it is a string, array or object without an end.
    @inlinable public mutating func value() -> Range<Int>? {
        skipSpaces()
        let start = offset
        switch byte {
        case nil: return nil
        case UInt8(ascii: "\""): return string().map { _ in start..<offset }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard let length = nestedLength() else {
                offset = text.count
                return nil
            }
            offset += length
        default:
            loop: while offset < text.count {
                switch text[offset] {
                case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...UInt8(ascii: " "): break loop
                default: offset &+= 1
                }
            }
        }
        return start..<offset
    }

    @usableFromInline func nestedLength() -> Int? {
        var scanner = JSONScanner()
        return scanner.scan(bytes(offset..<text.count), toDepth: 0)
    }
}

/// Iterates over the members of a validated object's text, key by key.
public struct JSONMembers: Sequence, IteratorProtocol {
    private var cursor: JSONCursor

    /// The offset in the object's text: after the opening brace, or after a value.
    public var offset: Int { cursor.offset }

    /// - Parameters:
    ///   - object: the text of a JSON object, already validated, starting at its brace.
    ///   - offset: the offset at which to begin: after the opening brace, or after one of the object's values.
    public init(ofValidated object: UnsafeRawBufferPointer, from offset: Int = 1) {
        cursor = JSONCursor(object, at: offset)
    }

    /// Returns a key's text between its quotation marks, including escapes, and its value's text.
    public mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        _ = cursor.take(UInt8(ascii: ","))
        guard let key = cursor.string(), cursor.take(UInt8(ascii: ":")), let value = cursor.value() else {
            return nil
        }
        return (cursor.bytes(key.inside), cursor.bytes(value))
    }
}

/// Iterates over the texts of a JSON array's elements.
public struct JSONElements: Sequence, IteratorProtocol {
    private var cursor: JSONCursor

    /// - Parameter array: the text of a JSON array, already validated, starting at its bracket. The initialiser
    ///   returns nil if it is not an array.
    public init?(ofValidated array: UnsafeRawBufferPointer) {
        guard array.first == UInt8(ascii: "[") else { return nil }
        cursor = JSONCursor(array, at: 1)
    }

    public mutating func next() -> UnsafeRawBufferPointer? {
        _ = cursor.take(UInt8(ascii: ","))
        guard let element = cursor.value(), !element.isEmpty else { return nil }
        return cursor.bytes(element)
    }
}

/// Finds where brackets of a long text close, piece by piece, at a few gigabytes per second. The content
/// between them is not checked: each extracted part must be parsed afterwards.
public struct JSONScanner: Sendable {
    private var state = csj_scan_state(depth: 0, in_string: 0, escaped: 0)

    public init() {}

    /// The number of brackets open at the end of the scanned text.
    public var depth: Int { Int(state.depth) }

    /// Scans until a closing bracket leaves at most `depth` open. Returns the offset after that bracket in
    /// `text`, or nil if all of `text` was scanned without finding one.
    public mutating func scan(_ text: UnsafeRawBufferPointer, toDepth depth: Int) -> Int? {
        guard let start = text.baseAddress else { return nil }
        let offset = csj_scan_to_depth(&state, start.assumingMemoryBound(to: CChar.self), text.count, Int64(depth))
        return offset > text.count ? nil : offset
    }

    /// Scans until a closing bracket makes the depth negative, or to the end of the text.
    ///
    /// - Returns: the offset after the last bracket that left none open, 0 if there is none, and the number
    ///   of bytes scanned.
    public mutating func scanToLast(_ text: Span<UInt8>) -> (last: Int, scanned: Int) {
        text.withUnsafeBytes { text in
            guard let start = text.baseAddress else { return (0, 0) }
            var last = 0
            let scanned = csj_scan_to_last(&state, start.assumingMemoryBound(to: CChar.self), text.count, &last)
            return (last, scanned)
        }
    }
}

extension JSONText {
    /// The members of a validated object, copied: the text of each value by its key; nil if the text is not an object.
    public static func members(ofValidated object: ArraySlice<UInt8>) -> [[UInt8]: [UInt8]]? {
        guard object.first == UInt8(ascii: "{") else { return nil }
        return object.withUnsafeBytes { bytes in
            var members: [[UInt8]: [UInt8]] = [:]
            for (key, value) in JSONMembers(ofValidated: bytes) {
                members[Array(string(inside: key).utf8)] = Array(value)
            }
            return members
        }
    }

    /// The texts of a validated array's elements, copied; nil if the text is not an array.
    public static func elements(ofValidated array: [UInt8]) -> [[UInt8]]? {
        array.withUnsafeBytes { JSONElements(ofValidated: $0)?.map { Array($0) } }
    }
}
