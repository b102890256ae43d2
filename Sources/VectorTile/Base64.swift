// SPDX-License-Identifier: MIT
import JSON

/// Base64 by section 4 of RFC 4648, with padding.
public enum Base64 {
    /// Appends what a writer has written as base64: two characters are looked up at once, and four written.
    public static func append(_ bytes: borrowing ByteWriter, to writer: inout ByteWriter) {
        bytes.lend { append($0, to: &writer) }
    }

    static func append(_ bytes: LentBytes, to writer: inout ByteWriter) {
        writer.reserve((bytes.count + 2) / 3 * 4)
        let pairs = pairs
        var offset = 0
        while bytes.count &- offset >= 3 {
            let group = Int(bytes[offset]) << 16 | Int(bytes[offset &+ 1]) << 8 | Int(bytes[offset &+ 2])
            writer.append(littleEndian: UInt32(pairs[group >> 12]) | UInt32(pairs[group & 0xFFF]) << 16)
            offset &+= 3
        }
        appendRest(bytes.from(offset), to: &writer)
    }

    /// The last one or two bytes, padded.
    private static func appendRest(_ rest: LentBytes, to writer: inout ByteWriter) {
        guard let first = rest.first else { return }
        let second = rest.count > 1 ? rest[1] : 0
        let group = Int(first) << 16 | Int(second) << 8
        writer.append(character(group >> 18))
        writer.append(character(group >> 12 & 63))
        writer.append(rest.count > 1 ? character(group >> 6 & 63) : UInt8(ascii: "="))
        writer.append(UInt8(ascii: "="))
    }

    private static func character(_ digit: Int) -> UInt8 {
        switch digit {
        case ..<26: UInt8(ascii: "A") + UInt8(digit)
        case ..<52: UInt8(ascii: "a") + UInt8(digit - 26)
        case ..<62: UInt8(ascii: "0") + UInt8(digit - 52)
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    /// The two characters for every twelve bits, the first in the low byte.
    private static let pairs: [UInt16] = (0..<4096).map {
        UInt16(character($0 >> 6)) | UInt16(character($0 & 63)) << 8
    }
}
