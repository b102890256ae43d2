// SPDX-License-Identifier: MIT

/// The escapes of JSON strings.
enum StringEscapes {
    /// The text of a string's content. This is rare, so it is simple rather than fast.
    static func decode(_ inside: UnsafeRawBufferPointer) -> String {
        var units: [UInt8] = []
        var offset = 0
        while offset < inside.count {
            let byte = inside[offset]
            offset += 1
            guard byte == UInt8(ascii: "\\"), offset < inside.count else {
                units.append(byte)
                continue
            }
            let escape = inside[offset]
            offset += 1
            switch escape {
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "u"): units.append(contentsOf: Character(scalar(inside, &offset)).utf8)
            default: units.append(escape)
            }
        }
        return String(decoding: units, as: UTF8.self)
    }

    /// The character of a `\u` escape: four digits, or twice four for a surrogate pair.
    private static func scalar(_ inside: UnsafeRawBufferPointer, _ offset: inout Int) -> Unicode.Scalar {
        let first = unit(inside, &offset)
        if UTF16.isLeadSurrogate(first), offset + 1 < inside.count, inside[offset] == UInt8(ascii: "\\"),
            inside[offset + 1] == UInt8(ascii: "u")
        {
            offset += 2
            let second = unit(inside, &offset)
            if UTF16.isTrailSurrogate(second) {
                return UTF16.decode(UTF16.EncodedScalar([first, second]))
            }
        }
        return Unicode.Scalar(first) ?? "\u{FFFD}"
    }

    private static func unit(_ inside: UnsafeRawBufferPointer, _ offset: inout Int) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 where offset < inside.count {
            value = value << 4 | UInt16(Character(Unicode.Scalar(inside[offset])).hexDigitValue ?? 0)
            offset += 1
        }
        return value
    }
}
