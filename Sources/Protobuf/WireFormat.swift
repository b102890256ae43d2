// SPDX-License-Identifier: MIT
import JSON

/// How protobuf lays out a field's value. Source: https://protobuf.dev/programming-guides/encoding/
public enum WireType: UInt8, Sendable {
    case varint = 0
    case fixed64 = 1
    case lengthDelimited = 2
    case fixed32 = 5
}

/// Numbers of the protobuf wire format.
public enum WireFormat {
    /// The number of bytes of a varint, 1 to 10.
    @inlinable @inline(__always) public static func length(varint value: UInt64) -> Int {
        (70 &- (value | 1).leadingZeroBitCount) / 7
    }

    /// A signed number as in sint32 and sint64: small magnitudes become small numbers.
    @inlinable @inline(__always) public static func zigZag(_ value: Int64) -> UInt64 {
        UInt64(bitPattern: (value &<< 1) ^ (value &>> 63))
    }

    /// The inverse of `zigZag`.
    @inlinable @inline(__always) public static func zigZagDecoded(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value &>> 1) ^ -Int64(bitPattern: value & 1)
    }
}

extension ByteWriter {
    /// Appends a varint: seven bits in each byte, the lowest first.
    @inlinable @inline(__always) public mutating func append(varint value: UInt64) {
        guard value >= 0x80 else { return append(UInt8(truncatingIfNeeded: value)) }
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a field's number and how its value is laid out.
    @inlinable @inline(__always) public mutating func append(field number: Int, _ type: WireType) {
        append(varint: UInt64(truncatingIfNeeded: number) &<< 3 | UInt64(type.rawValue))
    }

    /// Appends eight bytes, the lowest first.
    @inlinable @inline(__always) public mutating func append(fixed64 value: UInt64) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// Appends a field of bytes: its number, its length and itself.
    @inlinable @inline(__always) public mutating func append(field number: Int, bytes: UnsafeRawBufferPointer) {
        append(field: number, .lengthDelimited)
        append(varint: UInt64(bytes.count))
        append(contentsOf: bytes)
    }

    /// The same of a span.
    public mutating func append(field number: Int, bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { append(field: number, bytes: $0) }
    }

    /// Appends a field of text.
    public mutating func append(field number: Int, text: String) {
        append(field: number, bytes: text.utf8Span.span)
    }

    /// Appends a field of 64 bits: a double, or a number of fixed length.
    @inlinable @inline(__always) public mutating func append(field number: Int, fixed64 value: UInt64) {
        append(field: number, .fixed64)
        append(fixed64: value)
    }

    /// Appends a field of a varint.
    @inlinable @inline(__always) public mutating func append(field number: Int, varint value: UInt64) {
        append(field: number, .varint)
        append(varint: value)
    }

    /// Begins a field whose length is not known yet. What follows up to `endField` is its content.
    ///
    /// - Returns: what `endField` needs.
    @inlinable @inline(__always) public mutating func beginField(_ number: Int) -> Int {
        append(field: number, .lengthDelimited)
        append(UInt8(0))
        return count
    }

    /// Ends a field that `beginField` began. Content of 128 bytes or more is moved, since its length takes more bytes.
    @inlinable @inline(__always) public mutating func endField(_ start: Int) {
        // Negative if the writer has overflowed, and so discarded the field's beginning.
        let length = count &- start
        if length >= 0, length < 0x80 {
            overwrite(at: start &- 1, with: UInt8(truncatingIfNeeded: length))
        } else {
            endLongField(start)
        }
    }

    @usableFromInline mutating func endLongField(_ start: Int) {
        guard count >= start else { return }
        var rest = UInt64(count - start)
        let extra = WireFormat.length(varint: rest) - 1
        makeRoom(extra, at: start)
        for offset in 0...extra {
            let more: UInt8 = offset < extra ? 0x80 : 0
            overwrite(at: start - 1 + offset, with: UInt8(truncatingIfNeeded: rest & 0x7f) | more)
            rest >>= 7
        }
    }
}
