// SPDX-License-Identifier: MIT
import ArrowStream
import JSON

/// Which kinds of values a property has in an answer. They determine the type of its column. Null is none.
struct ValueKinds: OptionSet {
    let rawValue: UInt8

    /// Integers that a double holds exactly: up to 2^53.
    static let integer = ValueKinds(rawValue: 1)
    /// Other integers of 64 bits.
    static let longInteger = ValueKinds(rawValue: 2)
    /// Larger integers.
    static let hugeInteger = ValueKinds(rawValue: 4)
    /// Numbers with a point or an exponent.
    static let fraction = ValueKinds(rawValue: 8)
    static let boolean = ValueKinds(rawValue: 16)
    static let string = ValueKinds(rawValue: 32)
    /// Arrays and objects.
    static let nested = ValueKinds(rawValue: 64)

    /// The kind of a value by its JSON text; none for null.
    init(ofJSON text: UnsafeRawBufferPointer) {
        switch text.first {
        case UInt8(ascii: "\""): self = .string
        case UInt8(ascii: "["), UInt8(ascii: "{"): self = .nested
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case UInt8(ascii: "n"), nil: self = []
        default: self = ValueKinds(ofNumber: text)
        }
    }

    private init(ofNumber text: UnsafeRawBufferPointer) {
        if let integer = IntegerText.value(text) {
            self = integer.magnitude <= 1 << 53 ? .integer : .longInteger
        } else {
            self = IntegerText.isInteger(text) ? .hugeInteger : .fraction
        }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The type of a column with these values. One without any values is of the first type.
    var columnType: ArrowType {
        if isSubset(of: [.integer, .longInteger]) { return .int64 }
        if isSubset(of: [.integer, .fraction]) { return .float64 }
        if self == .boolean { return .bool }
        return self == .string ? .utf8 : .json
    }
}

/// Integers as JSON numbers write them: without a point or an exponent.
enum IntegerText {
    /// The value; nil if the text is no such integer, or one beyond 64 bits.
    @inline(__always) static func value(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        // Nineteen digits may be beyond the range, which the checked arithmetic finds.
        guard !digits.isEmpty, digits.count <= 19 else { return nil }
        var value: Int64 = 0
        for byte in digits {
            let digit = Int64(byte) - Int64(UInt8(ascii: "0"))
            guard (0...9).contains(digit) else { return nil }
            // Negative numbers reach one further.
            let (product, isLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = product.subtractingReportingOverflow(digit)
            guard !isLarge, !isTooLarge else { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    static func isInteger(_ text: UnsafeRawBufferPointer) -> Bool {
        !text.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }
}
