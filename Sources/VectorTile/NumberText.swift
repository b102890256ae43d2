// SPDX-License-Identifier: MIT

/// Reads numbers from JSON text.
enum NumberText {
    enum Number: Equatable {
        case whole(Int64)
        /// A whole number beyond `Int64`.
        case large(UInt64)
        case double(Double)
    }

    /// The number in a text: exact if it has neither fraction nor exponent and fits into 64 bits, else the nearest double; nil if
    /// the text is not a finite number.
    static func parse(_ text: UnsafeRawBufferPointer) -> Number? {
        var offset = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { offset = 1 }
        var digits: UInt64 = 0
        var digitCount = 0
        var decimals = 0
        var isFraction = false
        while offset < text.count {
            let byte = text[offset]
            if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                digits = digits &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
                digitCount &+= 1
                if isFraction { decimals &+= 1 }
            } else if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else {
                return slow(text)
            }
            offset &+= 1
        }
        // Fifteen digits and powers of ten up to 22 are exact as doubles; the quotient is then rounded once.
        guard digitCount > 0, digitCount <= 15 else { return slow(text) }
        if !isFraction { return .whole(isNegative ? -Int64(digits) : Int64(digits)) }
        let number = Double(digits) / powers[decimals]
        return .double(isNegative ? -number : number)
    }

    private static func slow(_ text: UnsafeRawBufferPointer) -> Number? {
        let text = String(decoding: text, as: UTF8.self)
        if let whole = Int64(text) { return .whole(whole) }
        if let large = UInt64(text) { return .large(large) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .double(number)
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
}
