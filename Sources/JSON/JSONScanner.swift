// SPDX-License-Identifier: MIT
import CSimdjson

/// Finds where brackets of a long text close, piece by piece, at a few gigabytes per second. The content between
/// them is not checked: each extracted part must be parsed afterwards.
public struct JSONScanner: Sendable {
    private var state = csj_scan_state(depth: 0, in_string: 0, escaped: 0)

    public init() {}

    /// The number of brackets open at the end of the scanned text.
    public var depth: Int { Int(state.depth) }

    /// Scans until a closing bracket leaves at most `depth` open. Returns the offset after that bracket in
    /// `text`, or nil if all of `text` was scanned without finding one.
    public mutating func scan(_ text: UnsafeRawBufferPointer, toDepth depth: Int) -> Int? {
        guard let start = text.baseAddress else { return nil }
        let offset = csj_scan_to_depth(
            &state, start.assumingMemoryBound(to: CChar.self), text.count, Int64(depth))
        return offset > text.count ? nil : offset
    }

    /// Scans until a closing bracket makes the depth negative, or to the end of the text.
    ///
    /// - Returns: the offset after the last bracket that left none open, 0 if there is none, and the number of bytes scanned.
    public mutating func scanToLast(_ text: UnsafeRawBufferPointer) -> (last: Int, scanned: Int) {
        guard let start = text.baseAddress else { return (0, 0) }
        var last = 0
        let scanned = csj_scan_to_last(
            &state, start.assumingMemoryBound(to: CChar.self), text.count, &last)
        return (last, scanned)
    }
}

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
    fileprivate mutating func nextElement() -> UnsafeRawBufferPointer? {
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

/// Reads the validated text of a single value.
public enum JSONText {
    /// Whether bytes are UTF-8. O(bytes), at a few gigabytes per second.
    public static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress else { return true }
        return csj_is_utf8(start.assumingMemoryBound(to: CChar.self), text.count) != 0
    }

    /// A number's value; nil if the text is not a number.
    public static func number(_ text: UnsafeRawBufferPointer) -> Double? {
        if let short = ShortDecimal.value(of: text) { return short }
        guard let start = text.baseAddress else { return nil }
        var value = 0.0
        let good = csj_read_number(start.assumingMemoryBound(to: CChar.self), text.count, &value)
        return good != 0 ? value : nil
    }

    /// Decodes a string from the text between its quotation marks.
    public static func string(inside text: UnsafeRawBufferPointer) -> String {
        guard let start = text.baseAddress, text.contains(UInt8(ascii: "\\")) else {
            return String(decoding: text, as: UTF8.self)
        }
        return String(unsafeUninitializedCapacity: text.count) { target in
            target.withMemoryRebound(to: CChar.self) { target in
                guard let out = target.baseAddress else { return 0 }
                return csj_unescape(start.assumingMemoryBound(to: CChar.self), text.count, out)
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
