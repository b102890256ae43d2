// SPDX-License-Identifier: MIT
import Glibc

/// Bytes that their owner lends, such as a text while it is read: a range of memory without a reference to its owner.
///
/// Invariant: the owner keeps `raw` valid and unchanged as long as the bytes, or parts of them, are used. Whoever lends bytes
/// says how long that is, usually the time of a call. Parts are checked to be within the bytes, single bytes in debug builds.
public struct LentBytes: RandomAccessCollection {
    public let raw: UnsafeRawBufferPointer

    @inlinable @inline(__always) public init(_ raw: UnsafeRawBufferPointer) { self.raw = raw }

    /// No bytes.
    @inlinable public init() { raw = UnsafeRawBufferPointer(start: nil, count: 0) }

    /// The bytes of a literal.
    @inlinable @inline(__always) public init(_ text: StaticString) {
        raw = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    @inlinable @inline(__always) public var startIndex: Int { 0 }
    @inlinable @inline(__always) public var endIndex: Int { raw.count }
    @inlinable @inline(__always) public var count: Int { raw.count }
    @inlinable @inline(__always) public subscript(offset: Int) -> UInt8 { raw[offset] }

    /// Some of the bytes, counted from 0 again.
    @inlinable @inline(__always) public func part(_ range: Range<Int>) -> LentBytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= raw.count, "the bytes have no such part")
        return LentBytes(UnsafeRawBufferPointer(rebasing: raw[range]))
    }

    /// The bytes from an offset on.
    @inlinable @inline(__always) public func from(_ offset: Int) -> LentBytes { part(offset..<raw.count) }

    /// The bytes before an offset.
    @inlinable @inline(__always) public func upTo(_ offset: Int) -> LentBytes { part(0..<offset) }

    /// The bytes without the first and the last: what is between quotation marks.
    @inlinable public var inside: LentBytes { raw.count < 2 ? LentBytes() : part(1..<raw.count - 1) }

    /// The eight bytes from an offset on, the first in the lowest bits.
    @inlinable @inline(__always) public func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The four bytes from an offset on, the first in the lowest bits.
    @inlinable @inline(__always) func half(at offset: Int) -> UInt64 {
        UInt64(UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// Whether the bytes are the same. A comparison word by word, which for the short texts of keys takes less time than a call
    /// of memcmp(3).
    @inlinable @inline(__always) public func isSame(as other: LentBytes) -> Bool {
        guard count == other.count else { return false }
        var offset = 0
        while offset &+ 8 <= count {
            if word(at: offset) != other.word(at: offset) { return false }
            offset &+= 8
        }
        while offset < count {
            if self[offset] != other[offset] { return false }
            offset &+= 1
        }
        return true
    }

    /// The offset of the first byte with a value, at the speed of memchr(3); nil if there is none.
    public func find(_ byte: UInt8, from start: Int = 0) -> Int? {
        guard let base = raw.baseAddress, start < count,
            let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return base.distance(to: UnsafeRawPointer(found))
    }

    /// The offset in these bytes of a part of them; nil if it is none, or empty.
    public func offset(of part: LentBytes) -> Int? {
        guard let base = raw.baseAddress, let start = part.raw.baseAddress else { return nil }
        let offset = base.distance(to: start)
        return offset >= 0 && offset + part.count <= count ? offset : nil
    }

    /// A hash by words of eight bytes; the last one may overlap the one before it, and short texts are one word.
    ///
    /// - Parameter seed: `LentBytes.seed`, so that a sender cannot prepare collisions.
    @inlinable public func hash(seed: UInt64) -> UInt64 {
        guard count > 0 else { return seed }
        var hash = seed ^ UInt64(truncatingIfNeeded: count)
        var last: UInt64
        if count >= 8 {
            var offset = 0
            while offset &+ 8 < count {
                hash = Self.mixed(hash ^ word(at: offset))
                offset &+= 8
            }
            last = word(at: count &- 8)
        } else if count >= 4 {
            last = half(at: 0) | half(at: count &- 4) &<< 32
        } else {
            last = UInt64(self[0]) | UInt64(self[count / 2]) &<< 8 | UInt64(self[count &- 1]) &<< 16
        }
        return Self.mixed(hash ^ last)
    }

    /// A random number of the process.
    public static let seed = UInt64.random(in: .min ... .max)

    /// Each bit of the result depends on each bit of the word.
    @inlinable @inline(__always) static func mixed(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
        return product.high ^ product.low
    }

    /// A copy of the bytes.
    public var bytes: [UInt8] { Array(raw) }

    /// The bytes as UTF-8.
    public var string: String { String(decoding: raw, as: UTF8.self) }

    @inlinable public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try body(raw.bindMemory(to: UInt8.self))
    }
}

// MARK: Lending

extension [UInt8] {
    /// Lends the array's bytes during the call.
    @inlinable @inline(__always) public func lend<Result, Failure: Error>(
        _ body: (LentBytes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try span.bytes.withUnsafeBytes { (bytes) throws(Failure) in try body(LentBytes(bytes)) }
    }

    @inlinable @inline(__always) public mutating func append(contentsOf bytes: LentBytes) {
        append(contentsOf: bytes.raw)
    }
}

extension String {
    /// Lends the text's UTF-8 during the call.
    @inlinable public func lendUTF8<Result>(_ body: (LentBytes) throws -> Result) rethrows -> Result {
        var text = self
        return try text.withUTF8 { try body(LentBytes(UnsafeRawBufferPointer($0))) }
    }
}

extension ByteWriter {
    @inlinable @inline(__always) public mutating func append(contentsOf bytes: LentBytes) {
        append(contentsOf: bytes.raw)
    }

    /// Appends UTF-8 bytes as a string in quotes, with only the escapes that JSON requires.
    public mutating func append(json utf8: UnsafeRawBufferPointer) { append(json: LentBytes(utf8)) }

    /// Lends the bytes written during the call.
    @inlinable @inline(__always) public func lend<Result: ~Copyable, Failure: Error>(
        _ body: (LentBytes) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes { (bytes) throws(Failure) in try body(LentBytes(bytes)) }
    }
}

// MARK: For callers with raw memory

extension JSONText {
    public static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool { isUTF8(LentBytes(text)) }
    public static func number(_ text: UnsafeRawBufferPointer) -> Double? { number(LentBytes(text)) }
    public static func string(inside text: UnsafeRawBufferPointer) -> String {
        string(inside: LentBytes(text))
    }
}

extension JSONParser {
    @inlinable public func withTape<Result, Failure: Error>(
        of text: UnsafeRawBufferPointer, maximumDepth: Int = JSONReader.maximumDepth,
        allowsLoneSurrogates: Bool = false, _ body: (JSONTape) throws(Failure) -> Result
    ) throws(JSONTapeError<Failure>) -> Result {
        try withTape(
            of: LentBytes(text), maximumDepth: maximumDepth, allowsLoneSurrogates: allowsLoneSurrogates, body)
    }
}

extension JSONReader {
    public static func parse(
        _ text: UnsafeRawBufferPointer, maximumDepth: Int = maximumDepth
    ) throws(JSONError) -> JSONValue { try parse(LentBytes(text), maximumDepth: maximumDepth) }
}
