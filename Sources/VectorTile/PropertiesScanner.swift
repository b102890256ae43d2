// SPDX-License-Identifier: MIT

/// Walks over JSON text that was found valid when it came in, so only the ends of values are looked for.
///
/// Every step checks its place against the text's end: text that is not JSON after all gives odd values or none, and is
/// never read past.
struct PropertiesScanner {
    let text: UnsafeRawBufferPointer
    var place = 0

    /// A string's inside as written, and whether it has escapes.
    struct Text {
        let inside: Range<Int>
        let hasEscapes: Bool
    }

    @inline(__always) init(_ text: UnsafeRawBufferPointer) { self.text = text }

    /// The byte here; nil at the end.
    @inline(__always) var byte: UInt8? { place < text.count ? text[place] : nil }

    @inline(__always) mutating func skipSpaces() {
        while place < text.count, text[place] <= UInt8(ascii: " ") { place &+= 1 }
    }

    /// Steps over a byte, if it is the next that is no space.
    @inline(__always) mutating func take(_ wanted: UInt8) -> Bool {
        skipSpaces()
        guard byte == wanted else { return false }
        place &+= 1
        return true
    }

    /// A string; nil if there is none, or no end of it.
    @inline(__always) mutating func string() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = place
        var hasEscapes = false
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""):
                place &+= 1
                return Text(inside: start..<place &- 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                place &+= 2
            default: place &+= 1
            }
        }
        place = text.count
        return nil
    }

    /// A whole number of up to fifteen digits without sign, the commonest value; nil, and no step taken,
    /// where something else is here.
    @inline(__always) mutating func smallInteger() -> Int64? {
        var digits: Int64 = 0
        var end = place
        while end < text.count, text[end] &- UInt8(ascii: "0") < 10 {
            digits = digits &* 10 &+ Int64(text[end] &- UInt8(ascii: "0"))
            end &+= 1
        }
        guard end > place, end &- place <= 15, end < text.count else { return nil }
        guard text[end] == UInt8(ascii: ",") || text[end] == UInt8(ascii: "}") else { return nil }
        place = end
        return digits
    }

    /// The rest of a number or name: all up to a comma, a bracket or a space.
    mutating func word() -> Range<Int> {
        let start = place
        loop: while place < text.count {
            switch text[place] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...UInt8(ascii: " "): break loop
            default: place &+= 1
            }
        }
        return start..<place
    }

    /// An array or object, which begins here.
    mutating func nested() -> Range<Int> {
        let start = place
        var depth = 0
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return start..<place }
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            place &+= 1
            if depth == 0 { break }
        }
        return start..<place
    }

    @inline(__always) func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[range])
    }
}
