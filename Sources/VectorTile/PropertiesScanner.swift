// SPDX-License-Identifier: MIT

/// Scans JSON text that was validated when it was received, so it only looks for the ends of values.
///
/// Each step checks the end of the text: text that is not JSON gives wrong values or none, and is never read
/// past its end.
struct PropertiesScanner {
    let text: UnsafeRawBufferPointer
    var offset = 0

    /// The content of a string as written, and whether it has escapes.
    struct Text {
        let inside: Range<Int>
        let hasEscapes: Bool
    }

    @inline(__always) init(_ text: UnsafeRawBufferPointer) { self.text = text }

    /// The current byte; nil at the end.
    @inline(__always) var byte: UInt8? { offset < text.count ? text[offset] : nil }

    @inline(__always) mutating func skipSpaces() {
        while offset < text.count, text[offset] <= UInt8(ascii: " ") { offset &+= 1 }
    }

    /// Skips spaces and then a byte, if it is this one.
    @inline(__always) mutating func take(_ expected: UInt8) -> Bool {
        skipSpaces()
        guard byte == expected else { return false }
        offset &+= 1
        return true
    }

    /// Reads a string; nil if there is none, or if it has no end.
    @inline(__always) mutating func string() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = offset
        var hasEscapes = false
        while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: "\""):
                offset &+= 1
                return Text(inside: start..<offset &- 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                offset &+= 2
            default: offset &+= 1
            }
        }
        offset = text.count
        return nil
    }

    /// Reads an integer of up to fifteen digits without a sign, the most common value; nil, without reading
    /// anything, if there is something else.
    @inline(__always) mutating func smallInteger() -> Int64? {
        var digits: Int64 = 0
        var end = offset
        while end < text.count, text[end] &- UInt8(ascii: "0") < 10 {
            digits = digits &* 10 &+ Int64(text[end] &- UInt8(ascii: "0"))
            end &+= 1
        }
        guard end > offset, end &- offset <= 15, end < text.count else { return nil }
        guard text[end] == UInt8(ascii: ",") || text[end] == UInt8(ascii: "}") else { return nil }
        offset = end
        return digits
    }

    /// Reads the rest of a number or name, up to a comma, a bracket or a space.
    mutating func word() -> Range<Int> {
        let start = offset
        loop: while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...UInt8(ascii: " "): break loop
            default: offset &+= 1
            }
        }
        return start..<offset
    }

    /// Reads an array or object, which begins here.
    mutating func nested() -> Range<Int> {
        let start = offset
        var depth = 0
        while offset < text.count {
            switch text[offset] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return start..<offset }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            offset &+= 1
            if depth == 0 { break }
        }
        return start..<offset
    }

    @inline(__always) func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[range])
    }
}

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
