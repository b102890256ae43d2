// SPDX-License-Identifier: MIT
import JSON

/// Writes numbers as `to_jsonb` does: without exponents, because it converts them to `numeric`.
enum NumberText {
    static func append(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        var exponent: Int?
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): continue
            case UInt8(ascii: "e") where index > 0: exponent = index
            default: return writer.append(json: text)  // NaN and the infinities
            }
            break
        }
        if let exponent {
            expand(text, exponentAt: exponent, to: &writer)
        } else if text.count == 2, text[0] == UInt8(ascii: "-"), text[1] == UInt8(ascii: "0") {
            writer.append(UInt8(ascii: "0"))
        } else {
            writer.append(contentsOf: text)
        }
    }

    /// Expands an exponent: `-1.5e+20` to `-150000000000000000000`, `1e-07` to `0.0000001`.
    private static func expand(
        _ text: UnsafeRawBufferPointer, exponentAt offset: Int, to writer: inout ByteWriter
    ) {
        let rest = UnsafeRawBufferPointer(rebasing: text[(offset + 1)...])
        // A type's exponents have at most three digits.
        guard let exponent = Int(String(decoding: rest, as: UTF8.self)), exponent.magnitude < 1000 else {
            return writer.append(json: text)
        }
        var digits: [UInt8] = []
        var pointAfter: Int?
        for byte in text[..<offset] where byte != UInt8(ascii: "-") {
            if byte == UInt8(ascii: ".") { pointAfter = digits.count } else { digits.append(byte) }
        }
        if text[0] == UInt8(ascii: "-") { writer.append(UInt8(ascii: "-")) }
        let whole = (pointAfter ?? digits.count) + exponent
        if whole <= 0 {
            writer.append("0.")
            for _ in whole..<0 { writer.append(UInt8(ascii: "0")) }
            writer.append(contentsOf: digits)
            return
        }
        for index in 0..<max(whole, digits.count) {
            if index == whole { writer.append(UInt8(ascii: ".")) }
            writer.append(index < digits.count ? digits[index] : UInt8(ascii: "0"))
        }
    }
}
