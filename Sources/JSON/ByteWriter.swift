// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// A growable buffer of bytes, into which answers are written once and from which they are sent.
///
/// Invariant: `base` points to `capacity` bytes from malloc that this value owns, of which the first
/// `written` are initialised. Being noncopyable, it has one owner, so it may be sent to another thread and
/// `@unchecked Sendable` is sound.
///
/// Functions that write a few bytes are inlinable: answers consist of many such pieces, whose lengths are
/// known at the call.
public struct ByteWriter: ~Copyable, @unchecked Sendable {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    @usableFromInline var written = 0
    /// The number of bytes written.
    @inlinable public var count: Int { written }
    /// The offset from which `limitFollowing` counts bytes, and their limit.
    private var limitedFrom = 0
    private var limit = Int.max
    /// Whether more was written than the limit allows. The bytes written since the limit was set are then invalid.
    public private(set) var hasOverflowed = false

    /// Limits the bytes written from here on. Beyond the limit, writes overwrite each other, so that memory
    /// stays bounded whatever is written; `hasOverflowed` then reports it.
    public mutating func limitFollowing(to bytes: Int) {
        limitedFrom = written
        limit = bytes
        hasOverflowed = false
    }

    /// The number of bytes that can still be written within the limit.
    public var room: Int { limit == .max ? .max : max(0, limit - (written - limitedFrom)) }

    /// Removes the limit.
    public mutating func liftLimit() {
        limit = .max
        hasOverflowed = false
    }

    /// - Parameter capacity: the initial capacity in bytes, at least 16.
    public init(capacity: Int = 512) {
        self.capacity = max(capacity, 16)
        base = Self.resized(nil, to: self.capacity)
    }

    deinit { free(base) }

    /// Uses realloc(3): large blocks grow in place or are moved by remapping pages, so that a growing answer
    /// is never in memory twice. If memory is exhausted the process ends, as with Swift's own allocations.
    private static func resized(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer {
        guard let block = realloc(block, size) else { abort() }
        return block
    }

    /// Makes room for `more` bytes after those written. Amortised O(1) per byte.
    @inlinable @inline(__always) public mutating func reserve(_ more: Int) {
        if capacity &- written < more { grow(more) }
    }

    @usableFromInline @inline(never) mutating func grow(_ more: Int) {
        if limit != .max, written - limitedFrom + more > limit {
            hasOverflowed = true
            written = limitedFrom
            if capacity - written >= more { return }
        }
        let newCapacity = max(written + more, capacity * 2)
        base = Self.resized(base, to: newCapacity)
        capacity = newCapacity
    }

    @inlinable @inline(__always) public mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
        written &+= 1
    }

    /// Appends a literal text of the program, unchanged.
    @inlinable @inline(__always) public mutating func append(_ text: StaticString) {
        let length = text.utf8CodeUnitCount
        reserve(length)
        (base + written).copyMemory(from: text.utf8Start, byteCount: length)
        written &+= length
    }

    @inlinable @inline(__always) public mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + written).copyMemory(from: start, byteCount: bytes.count)
        written &+= bytes.count
    }

    public mutating func append(contentsOf bytes: [UInt8]) {
        reserve(bytes.count)
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    public mutating func append(contentsOf bytes: ArraySlice<UInt8>) {
        reserve(bytes.count)
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Appends a text's UTF-8 unchanged, without quotes or escapes.
    public mutating func append(raw text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// Appends an integer of at most 64 bits in decimal.
    @inlinable public mutating func append(integer value: some FixedWidthInteger) {
        appendDecimal(UInt64(truncatingIfNeeded: value.magnitude), isNegative: value < 0)
    }

    /// Appends a sign and a magnitude in decimal.
    @inlinable public mutating func appendDecimal(_ magnitude: UInt64, isNegative: Bool) {
        reserve(32)
        base.storeBytes(of: UInt8(ascii: "-"), toByteOffset: written, as: UInt8.self)
        written &+= isNegative ? 1 : 0
        guard magnitude < 100_000_000 else { return appendLong(magnitude) }
        appendStart(Decimals.eight(magnitude))
    }

    /// Appends eight digits, one per byte, without leading zeros but with at least one digit.
    ///
    /// - Precondition: there is room for eight bytes.
    @inlinable @inline(__always) mutating func appendStart(_ digits: UInt64) {
        let leading = min(digits.trailingZeroBitCount / 8, 7)
        let text = (digits | Decimals.zeros) &>> UInt64(truncatingIfNeeded: leading &* 8)
        base.storeBytes(of: text.littleEndian, toByteOffset: written, as: UInt64.self)
        written &+= 8 &- leading
    }

    /// - Precondition: there is room for 24 bytes.
    @usableFromInline mutating func appendLong(_ magnitude: UInt64) {
        let upper = magnitude / 100_000_000
        if upper < 100_000_000 {
            appendStart(Decimals.eight(upper))
        } else {
            appendStart(Decimals.eight(upper / 100_000_000))
            appendEight(upper % 100_000_000)
        }
        appendEight(magnitude % 100_000_000)
    }

    private mutating func appendEight(_ number: UInt64) {
        let text = Decimals.eight(number) | Decimals.zeros
        base.storeBytes(of: text.littleEndian, toByteOffset: written, as: UInt64.self)
        written &+= 8
    }

    /// Appends a number as JavaScript prints it (ECMAScript, Number::toString): the shortest digits that
    /// read back as the same number. Numbers that are not finite are `null`, as in JSON.stringify.
    public mutating func append(number value: Double) {
        guard value.isFinite else { return append("null") }
        reserve(40)
        written += csj_print_number(value, (base + written).assumingMemoryBound(to: CChar.self))
    }

    /// Appends a string in quotes, with only the escapes that JSON requires.
    public mutating func append(json text: String) {
        var text = text
        text.withUTF8 { append(json: UnsafeRawBufferPointer($0)) }
    }

    /// Appends UTF-8 bytes as a string in quotes, with only the escapes that JSON requires.
    public mutating func append(json utf8: UnsafeRawBufferPointer) {
        reserve(utf8.count + 2)
        append(UInt8(ascii: "\""))
        var clean = 0
        for index in utf8.indices {
            let byte = utf8[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[clean..<index]))
            clean = index + 1
            appendEscape(byte)
        }
        append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[clean...]))
        append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        default:
            append("u00")
            append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            let low = byte & 15
            append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }

    /// Appends a value in compact form, an object's members in their order.
    public mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .bool(let flag): flag ? append("true") : append("false")
        case .number(let number): append(number: number)
        case .string(let text): append(json: text)
        case .array(let values):
            append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(value)
            }
            append(UInt8(ascii: "]"))
        case .object(let object):
            append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(json: member.key)
                append(UInt8(ascii: ":"))
                append(member.value)
            }
            append(UInt8(ascii: "}"))
        }
    }

    /// Overwrites bytes already written with a number's bytes; does nothing if there are fewer.
    public mutating func overwrite(at offset: Int, with number: some FixedWidthInteger & BitwiseCopyable) {
        guard offset >= 0, offset <= written - number.bitWidth / 8 else { return }
        base.storeBytes(of: number, toByteOffset: offset, as: type(of: number))
    }

    /// Moves the bytes from an offset on, to make room for `more` bytes that are then overwritten; does nothing if the
    /// offset is beyond the end.
    public mutating func makeRoom(_ more: Int, at offset: Int) {
        guard more > 0, offset >= 0, offset <= written else { return }
        reserve(more)
        // Making room may have discarded what is beyond the limit.
        guard offset <= written else { return }
        memmove(base + offset + more, base + offset, written - offset)
        written += more
    }

    /// Removes the bytes from `length` on; does nothing if there are fewer.
    @inlinable public mutating func truncate(to length: Int) {
        if length >= 0 && length < written { written = length }
    }

    @inlinable @inline(__always) public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: written))
    }

    /// A copy of the bytes written.
    public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// The bytes written, as text.
    public var string: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension String {
    /// Formats a number as JavaScript's `String(number)` does, including `NaN` and `Infinity`.
    public init(javaScript number: Double) {
        if number.isNaN {
            self = "NaN"
        } else if number.isInfinite {
            self = number < 0 ? "-Infinity" : "Infinity"
        } else {
            var writer = ByteWriter(capacity: 64)
            writer.append(number: number)
            self = writer.string
        }
    }
}

/// Converts whole numbers to decimal digits, eight at a time in one word.
@usableFromInline enum Decimals {
    /// The text of eight digits 0.
    @usableFromInline static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The eight digits of a number below 10^8, one per byte, the first in the lowest byte, as values rather than text.
    @inlinable @inline(__always) static func eight(_ number: UInt64) -> UInt64 {
        // Divides into halves, then quarters, then digits, in parallel lanes. The products equal the quotients by
        // 100 and 10 for such small dividends.
        let halves = number / 10_000 | (number % 10_000) &<< 32
        let hundreds = ((halves &* 10_486) &>> 20) & 0x0000_007F_0000_007F
        let pairs = hundreds | (halves &- 100 &* hundreds) &<< 16
        let tens = ((pairs &* 103) &>> 10) & 0x000F_000F_000F_000F
        return tens | (pairs &- 10 &* tens) &<< 8
    }
}

// MARK: Spans

extension ByteWriter {
    /// Lends the bytes written.
    @inlinable public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { (bytes) throws(Failure) in
            try body(bytes.assumingMemoryBound(to: UInt8.self).span)
        }
    }

    @inlinable public mutating func append(contentsOf bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }

    /// Appends what another writer has written from an offset on.
    public mutating func append(contentsOf other: borrowing ByteWriter, from start: Int = 0) {
        other.withBytes { append(contentsOf: $0.extracting(start..<$0.count)) }
    }
}

extension [UInt8] {
    public init(copying bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { Array($0) }
    }

    public mutating func append(contentsOf bytes: RawSpan) {
        bytes.withUnsafeBytes { append(contentsOf: $0) }
    }
}
