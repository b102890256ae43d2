// SPDX-License-Identifier: MIT

/// Reads big-endian numbers and strings as in the PostgreSQL protocol, never past the end.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var remaining: Int { bytes.count - offset }

    mutating func integer<Number: FixedWidthInteger>(
        _: Number.Type = Number.self
    ) throws(PostgresDataError) -> Number {
        Number(bigEndian: try raw(Number.self))
    }

    /// Reads a number in the byte order of a geometry.
    mutating func integer<Number: FixedWidthInteger>(
        _: Number.Type = Number.self, littleEndian: Bool
    ) throws(PostgresDataError) -> Number {
        let value = try raw(Number.self)
        return littleEndian ? Number(littleEndian: value) : Number(bigEndian: value)
    }

    private mutating func raw<Number: FixedWidthInteger>(_: Number.Type) throws(PostgresDataError) -> Number {
        let size = MemoryLayout<Number>.size
        guard remaining >= size else { throw PostgresDataError("a message ends early") }
        defer { offset += size }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// Reads bytes, which are valid as long as the message is.
    mutating func slice(_ count: Int) throws(PostgresDataError) -> UnsafeRawBufferPointer {
        guard count >= 0, remaining >= count else { throw PostgresDataError("a message ends early") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Reads a string up to its zero byte.
    mutating func string() throws(PostgresDataError) -> String {
        let rest = bytes[offset...]
        guard let end = rest.firstIndex(of: 0) else { throw PostgresDataError("a string has no end") }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]), as: UTF8.self)
        offset = end + 1
        return text
    }
}

extension [UInt8] {
    /// Passes the bytes to a reader, which may throw only its own errors.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(PostgresDataError) -> Value
    ) throws(PostgresDataError) -> Value {
        try withUnsafeBufferPointer { (bytes) throws(PostgresDataError) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// Why bytes from the server could not be read.
public struct PostgresDataError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Decodes hexadecimal digits.
enum Hexadecimal {
    static func byte(_ high: UInt8, _ low: UInt8) throws(PostgresDataError) -> UInt8 {
        guard let high = digit(high), let low = digit(low) else {
            throw PostgresDataError("a geometry is not hexadecimal")
        }
        return high << 4 | low
    }

    /// The bytes that a text of digits encodes.
    static func bytes(_ text: UnsafeRawBufferPointer) throws(PostgresDataError) -> [UInt8] {
        guard text.count % 2 == 0 else { throw PostgresDataError("a geometry has half a byte") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            bytes.append(try byte(text[index], text[index + 1]))
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
