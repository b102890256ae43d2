// SPDX-License-Identifier: MIT

/// Why bytes of the server's could not be read.
public struct PostgresDataError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Reads big-endian numbers and strings, as the PostgreSQL protocol has them, and never past the end.
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

    /// A number in the order that a geometry names.
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

    /// The next bytes; they are valid as long as the message is.
    mutating func slice(_ count: Int) throws(PostgresDataError) -> UnsafeRawBufferPointer {
        guard count >= 0, remaining >= count else { throw PostgresDataError("a message ends early") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// A string up to its zero byte.
    mutating func string() throws(PostgresDataError) -> String {
        let rest = bytes[offset...]
        guard let end = rest.firstIndex(of: 0) else { throw PostgresDataError("a string has no end") }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]), as: UTF8.self)
        offset = end + 1
        return text
    }
}

extension [UInt8] {
    /// The bytes for a reader, which throws its own errors only.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(PostgresDataError) -> Value
    ) throws(PostgresDataError) -> Value {
        try withUnsafeBufferPointer { (bytes) throws(PostgresDataError) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}
