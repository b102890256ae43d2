// SPDX-License-Identifier: MIT

/// A message that is a JSON object but is rejected for its content: nested too deeply, or with a number that
/// is too large. Its envelope is scanned without building a tree, so that the answer can name the call.
struct RefusedMessage {
    /// Its id; nil if the id is missing or invalid, or if the text is not an object.
    private(set) var id: Int64?
    private(set) var opensCall = false
    private let text: [UInt8]
    private var place = 0

    init(_ text: [UInt8]) {
        self.text = text
        guard readMembers() else {
            (id, opensCall) = (nil, false)
            return
        }
    }

    /// Reads an object's members; returns false if anything else follows. O(length of the text).
    private mutating func readMembers() -> Bool {
        guard take("{") else { return false }
        if !take("}") {
            repeat {
                guard let key = takeString(), take(":"), let value = takeValue() else { return false }
                note(key, value)
            } while take(",")
            guard take("}") else { return false }
        }
        skipSpace()
        return place == text.count
    }

    private mutating func note(_ key: Range<Int>, _ value: Range<Int>) {
        if text[key].elementsEqual("id".utf8) {
            id = Int64(String(decoding: text[value], as: UTF8.self))
            if let number = id, !(1...ClientMessage.maximumID).contains(number) { id = nil }
        }
        if text[key].elementsEqual("method".utf8) { opensCall = true }
    }

    private mutating func skipSpace() {
        while place < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[place]) { place += 1 }
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipSpace()
        guard place < text.count, text[place] == UInt8(ascii: mark) else { return false }
        place += 1
        return true
    }

    /// Reads a string and returns the range of its bytes between the quotes.
    private mutating func takeString() -> Range<Int>? {
        guard take("\"") else { return nil }
        let start = place
        while place < text.count, text[place] != UInt8(ascii: "\"") {
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard place < text.count else { return nil }
        place += 1
        return start..<place - 1
    }

    /// Reads a value and returns the range of its bytes without the space around it. The value ends before
    /// the next comma or closing bracket that is not nested within it.
    private mutating func takeValue() -> Range<Int>? {
        skipSpace()
        let start = place
        var (end, depth) = (place, 0)
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""):
                guard takeString() != nil else { return nil }
                end = place
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                if depth == 0 { return end > start ? start..<end : nil }
                if text[place] != UInt8(ascii: ",") { depth -= 1 }
            case 0x20, 0x09, 0x0A, 0x0D:
                place += 1
                continue
            default: break
            }
            place += 1
            end = place
        }
        return nil
    }
}
