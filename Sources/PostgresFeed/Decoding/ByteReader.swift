// SPDX-License-Identifier: MIT

/// Reads big-endian numbers and strings as in the PostgreSQL protocol, never past the end.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var index: Int

    init(_ bytes: ArraySlice<UInt8>) { (self.bytes, index) = (bytes, bytes.startIndex) }

    var remaining: Int { bytes.endIndex - index }

    /// Reads a number, in the byte order of the protocol or in that of a geometry.
    mutating func integer<Number: FixedWidthInteger>(
        _: Number.Type = Number.self, littleEndian: Bool = false
    ) throws(PostgresDataError) -> Number {
        var number: Number = 0
        for position in try range(Number.bitWidth / 8) {
            number = number << 8 | Number(truncatingIfNeeded: bytes[position])
        }
        return littleEndian ? number.byteSwapped : number
    }

    /// Reads bytes, which share the message's memory.
    mutating func slice(_ count: Int) throws(PostgresDataError) -> ArraySlice<UInt8> {
        bytes[try range(count)]
    }

    /// The range of the next bytes, which are then read.
    mutating func range(_ count: Int) throws(PostgresDataError) -> Range<Int> {
        guard count >= 0, count <= remaining else { throw PostgresDataError("a message ends early") }
        defer { index += count }
        return index..<index + count
    }

    /// Reads a string up to its zero byte.
    mutating func string() throws(PostgresDataError) -> String {
        guard let end = bytes[index...].firstIndex(of: 0) else {
            throw PostgresDataError("a string has no end")
        }
        defer { index = end + 1 }
        return String(decoding: bytes[index..<end], as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends a number's bytes, the most significant first.
    mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
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
    /// The bytes that a text of digits encodes.
    static func bytes(_ text: ArraySlice<UInt8>) throws(PostgresDataError) -> [UInt8] {
        guard text.count % 2 == 0 else { throw PostgresDataError("a geometry has half a byte") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: text.startIndex, to: text.endIndex, by: 2) {
            guard let high = digit(text[index]), let low = digit(text[index + 1]) else {
                throw PostgresDataError("a geometry is not hexadecimal")
            }
            bytes.append(high << 4 | low)
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
