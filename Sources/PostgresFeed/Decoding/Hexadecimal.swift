// SPDX-License-Identifier: MIT

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
