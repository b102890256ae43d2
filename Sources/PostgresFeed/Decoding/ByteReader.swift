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
