// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// A value on a tape. Navigation allocates nothing.
public struct JSONElement {
    public enum Kind: Sendable { case null, bool, number, string, array, object }

    let tape: JSONTape
    let index: Int

    private var entry: csj_entry { tape.entries[index] }

    public var kind: Kind {
        switch entry.kind & 7 {
        case CSJ_NULL.rawValue: .null
        case CSJ_FALSE.rawValue, CSJ_TRUE.rawValue: .bool
        case CSJ_NUMBER.rawValue: .number
        case CSJ_STRING.rawValue: .string
        case CSJ_ARRAY.rawValue: .array
        default: .object
        }
    }

    /// The value's text as sent, without surrounding spaces.
    public var rawText: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: tape.text[rawRange]) }

    /// The range of the value's text in the whole text.
    public var rawRange: Range<Int> { Int(entry.start)..<Int(entry.end) }

    /// The number of strings in the value, including keys, that contain a lone surrogate. O(values) if the
    /// text has any.
    public var loneSurrogates: Int {
        tape.hasLoneSurrogates ? tape.entries[index..<Int(entry.next)].count { $0.kind & 16 != 0 } : 0
    }

    public var bool: Bool? {
        switch entry.kind {
        case CSJ_TRUE.rawValue: true
        case CSJ_FALSE.rawValue: false
        default: nil
        }
    }

    public var number: Double? { kind == .number ? entry.number : nil }

    /// The number of values in it, including keys and itself. O(1).
    public var valueCount: Int { Int(entry.next) - index }

    /// The integer value of a number that is written without fraction or exponent and fits in 64 bits, or
    /// that is integral and exact as a double; otherwise nil.
    public var integer: Int64? {
        guard kind == .number else { return nil }
        if entry.kind & 8 != 0, abs(entry.number) >= 0x1p53 {
            return Int64(String(decoding: rawText, as: UTF8.self))
        }
        return Int64(exactly: entry.number)
    }

    /// A string's decoded text; nil for other kinds.
    public var string: String? {
        guard kind == .string else { return nil }
        let inside = UnsafeRawBufferPointer(rebasing: rawText.dropFirst().dropLast())
        return entry.kind & 8 == 0 ? String(decoding: inside, as: UTF8.self) : JSONText.string(inside: inside)
    }

    /// Whether a string's decoded text has exactly these bytes. Without escapes no string is allocated.
    public func isString(_ text: StaticString) -> Bool {
        guard kind == .string else { return false }
        if entry.kind & 8 != 0 { return string?.utf8.elementsEqual(text.description.utf8) ?? false }
        return text.withUTF8Buffer { hasInside(UnsafeRawBufferPointer($0)) }
    }

    /// Whether these bytes are between a string's quotation marks. Generic comparison took a fifth of an import's time.
    @inline(__always) private func hasInside(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard Int(entry.end) &- Int(entry.start) == bytes.count &+ 2 else { return false }
        guard let start = bytes.baseAddress, let text = tape.text.baseAddress else { return bytes.isEmpty }
        return memcmp(text + Int(entry.start) + 1, start, bytes.count) == 0
    }

    /// Whether a string's decoded text has exactly these bytes, which are known only at run time.
    public func isString(_ bytes: [UInt8]) -> Bool {
        guard kind == .string else { return false }
        if entry.kind & 8 != 0 { return string?.utf8.elementsEqual(bytes) ?? false }
        return bytes.withUnsafeBytes { hasInside($0) }
    }

    /// The number of an array's elements or an object's members; 0 for other kinds.
    public var count: Int { entry.kind & 7 >= CSJ_ARRAY.rawValue ? Int(entry.number) : 0 }

    /// An array's elements; none for other kinds.
    public var elements: Elements {
        let isArray = entry.kind == CSJ_ARRAY.rawValue
        return Elements(tape: tape, index: index + 1, end: isArray ? Int(entry.next) : index + 1)
    }

    /// An object's members as written, equal keys included; none for other kinds.
    public var members: Members {
        let isObject = entry.kind == CSJ_OBJECT.rawValue
        return Members(tape: tape, index: index + 1, end: isObject ? Int(entry.next) : index + 1)
    }

    /// The value of a key, the last one if keys are equal. O(members).
    public subscript(key: StaticString) -> JSONElement? {
        var found: JSONElement?
        for (name, value) in members where name.isString(key) { found = value }
        return found
    }

    /// The value as a tree.
    public var value: JSONValue {
        switch kind {
        case .null: .null
        case .bool: .bool(bool ?? false)
        case .number: .number(entry.number)
        case .string: .string(string ?? "")
        case .array: .array(values)
        case .object: .object(JSONObject(reading: self))
        }
    }

    private var values: [JSONValue] {
        var values: [JSONValue] = []
        values.reserveCapacity(count)
        for element in elements { values.append(element.value) }
        return values
    }

    public struct Elements: Sequence, IteratorProtocol {
        let tape: JSONTape
        var index: Int
        let end: Int

        @inline(__always) public mutating func next() -> JSONElement? {
            guard index < end else { return nil }
            defer { index = Int(tape.entries[index].next) }
            return JSONElement(tape: tape, index: index)
        }
    }

    public struct Members: Sequence, IteratorProtocol {
        let tape: JSONTape
        var index: Int
        let end: Int

        @inline(__always) public mutating func next() -> (key: JSONElement, value: JSONElement)? {
            guard index + 1 < end else { return nil }
            let key = JSONElement(tape: tape, index: index)
            let value = JSONElement(tape: tape, index: index + 1)
            index = Int(tape.entries[index + 1].next)
            return (key, value)
        }
    }
}
