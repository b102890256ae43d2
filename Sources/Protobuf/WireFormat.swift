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

    /// Appends a field of text.
    public mutating func append(field number: Int, text: String) {
        var text = text
        text.withUTF8 { append(field: number, bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Why bytes are no protobuf message.
public enum WireError: Error, Equatable, Sendable {
    /// The bytes end within a field.
    case truncated
    /// A varint of more than 64 bits.
    case oversizedVarint
    /// A field number of 0 or above 2^29 - 1.
    case invalidFieldNumber
    /// A group, which proto3 lacks, or a wire type that does not exist.
    case unknownWireType(UInt8)
}

/// Reads the fields of a message in the order in which they were sent. Copies nothing.
public struct MessageReader {
    /// A field's value, as it is laid out.
    public enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        case bytes(ArraySlice<UInt8>)
    }

    private var rest: ArraySlice<UInt8>

    public init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    public var isAtEnd: Bool { rest.isEmpty }

    /// The next field; nil at the end.
    public mutating func next() throws(WireError) -> (number: Int, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        guard tag >> 3 > 0, tag >> 3 < 1 << 29 else { throw .invalidFieldNumber }
        let number = Int(tag >> 3)
        switch WireType(rawValue: UInt8(tag & 7)) {
        case .varint: return (number, .varint(try varint()))
        case .fixed64: return (number, .fixed64(try fixed(8)))
        case .fixed32: return (number, .fixed32(UInt32(truncatingIfNeeded: try fixed(4))))
        case .lengthDelimited:
            let length = try varint()
            guard length <= UInt64(rest.count) else { throw .truncated }
            let bytes = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            return (number, .bytes(bytes))
        case nil: throw .unknownWireType(UInt8(tag & 7))
        }
    }

    /// The next varint, of a packed field.
    public mutating func varint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        for (index, byte) in rest.enumerated() {
            guard index < 9 || byte <= 1 else { throw .oversizedVarint }
            value |= UInt64(byte & 0x7f) &<< UInt64(7 &* index)
            guard byte & 0x80 != 0 else {
                rest = rest.dropFirst(index + 1)
                return value
            }
        }
        throw .truncated
    }

    /// The next bytes of a packed field as a number, the lowest first.
    ///
    /// - Parameter count: 4 or 8.
    public mutating func fixed(_ count: Int) throws(WireError) -> UInt64 {
        guard rest.count >= count else { throw .truncated }
        let value = rest.prefix(count).reversed().reduce(UInt64(0)) { $0 &<< 8 | UInt64($1) }
        rest = rest.dropFirst(count)
        return value
    }
}
