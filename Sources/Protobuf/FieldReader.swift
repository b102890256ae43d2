// SPDX-License-Identifier: MIT

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

/// Reads the fields of a message in the order in which they were sent. It has no bytes of its own: each step is given
/// the same ones, so that nothing is copied or counted.
public struct FieldReader: Sendable {
    /// A field's value, as it is laid out.
    public enum Value: Equatable, Sendable {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        /// Where the content is.
        case bytes(Range<Int>)
    }

    /// Where the next field begins.
    public private(set) var offset: Int
    private let end: Int

    /// - Parameter range: where the message is in the bytes.
    public init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

    public var isAtEnd: Bool { offset >= end }

    /// The next field; nil at the end.
    public mutating func next(in bytes: Span<UInt8>) throws(WireError) -> (number: Int, value: Value)? {
        guard offset < end else { return nil }
        let tag = try varint(in: bytes)
        guard tag >> 3 > 0, tag >> 3 < 1 << 29 else { throw .invalidFieldNumber }
        let number = Int(tag >> 3)
        switch WireType(rawValue: UInt8(tag & 7)) {
        case .varint: return (number, .varint(try varint(in: bytes)))
        case .fixed64: return (number, .fixed64(try fixed(8, in: bytes)))
        case .fixed32: return (number, .fixed32(UInt32(truncatingIfNeeded: try fixed(4, in: bytes))))
        case .lengthDelimited:
            let length = try varint(in: bytes)
            guard length <= UInt64(end - offset) else { throw .truncated }
            defer { offset += Int(length) }
            return (number, .bytes(offset..<offset + Int(length)))
        case nil: throw .unknownWireType(UInt8(tag & 7))
        }
    }

    /// The next varint, of a packed field.
    public mutating func varint(in bytes: Span<UInt8>) throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < end, offset < bytes.count {
            let byte = bytes[offset]
            guard shift < 63 || byte <= 1 else { throw .oversizedVarint }
            value |= UInt64(byte & 0x7f) &<< shift
            offset &+= 1
            guard byte & 0x80 != 0 else { return value }
            shift &+= 7
        }
        throw .truncated
    }

    /// The next bytes of a packed field as a number, the lowest first.
    ///
    /// - Parameter count: 4 or 8.
    public mutating func fixed(_ count: Int, in bytes: Span<UInt8>) throws(WireError) -> UInt64 {
        guard end - offset >= count, bytes.count - offset >= count else { throw .truncated }
        var value: UInt64 = 0
        for index in 0..<count { value |= UInt64(bytes[offset &+ index]) &<< UInt64(8 &* index) }
        offset &+= count
        return value
    }
}

/// The same for a message that is a slice of its own, whose parts are kept as slices.
public struct MessageReader {
    /// A field's value, as it is laid out.
    public enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        case bytes(ArraySlice<UInt8>)
    }

    private let message: ArraySlice<UInt8>
    private var fields: FieldReader

    public init(_ bytes: ArraySlice<UInt8>) { (message, fields) = (bytes, FieldReader(0..<bytes.count)) }

    public var isAtEnd: Bool { fields.isAtEnd }

    /// The next field; nil at the end.
    public mutating func next() throws(WireError) -> (number: Int, value: Value)? {
        let message = message
        guard let (number, value) = try fields.next(in: message.span) else { return nil }
        switch value {
        case .varint(let value): return (number, .varint(value))
        case .fixed64(let value): return (number, .fixed64(value))
        case .fixed32(let value): return (number, .fixed32(value))
        case .bytes(let range):
            let start = message.startIndex
            return (number, .bytes(message[start + range.lowerBound..<start + range.upperBound]))
        }
    }

    /// The next varint, of a packed field.
    public mutating func varint() throws(WireError) -> UInt64 {
        let message = message
        return try fields.varint(in: message.span)
    }
}
