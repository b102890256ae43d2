// SPDX-License-Identifier: MIT
import JSON
import Protobuf

extension ByteWriter {
    /// Appends a feature's id as a FeatureId; nothing if it has none.
    ///
    /// - Parameter json: the id's JSON text: a number or a string.
    package mutating func append(field number: Int, featureID json: UnsafeRawBufferPointer) {
        guard let first = json.first else { return }
        let start = beginField(number)
        if first == UInt8(ascii: "\"") {
            append(field: TypedFields.FeatureId.text, string: json)
        } else if let integer = IntegerText(json) {
            append(integer)
        } else if let digits = DecimalInteger.digits(json),
            let integer = IntegerText(digits)
        {
            append(integer)
        } else {
            append(field: TypedFields.FeatureId.number, double: JSONText.number(json) ?? 0)
        }
        endField(start)
    }

    private mutating func append(_ integer: IntegerText) {
        switch integer {
        case .signed(let value):
            append(field: TypedFields.FeatureId.integer, varint: UInt64(bitPattern: value))
        case .unsigned(let value): append(field: TypedFields.FeatureId.unsignedInteger, varint: value)
        }
    }

    /// Appends a field of text.
    ///
    /// - Parameter json: the JSON text of a string, with its quotation marks.
    package mutating func append(field number: Int, string json: UnsafeRawBufferPointer) {
        let inside = UnsafeRawBufferPointer(rebasing: json.dropFirst().dropLast())
        if inside.contains(UInt8(ascii: "\\")) {
            append(field: number, text: JSONText.string(inside: inside))
        } else {
            append(field: number, bytes: inside)
        }
    }
}

/// An integer of 64 bits.
package enum IntegerText: Equatable {
    case signed(Int64)
    /// Above those with a sign.
    case unsigned(UInt64)

    /// Reads digits, with a minus sign or without; nil if the text is anything else or too large.
    package init?(_ text: some RandomAccessCollection<UInt8>) {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = text.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.count <= 20 else { return nil }
        var value: UInt64 = 0
        for character in digits {
            let digit = character &- UInt8(ascii: "0")
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(UInt64(digit))
            guard digit < 10, !overflows, !carries else { return nil }
            value = sum
        }
        if isNegative {
            guard value <= UInt64(Int64.max) + 1 else { return nil }
            self = .signed(Int64(truncatingIfNeeded: 0 &- value))
        } else if let value = Int64(exactly: value) {
            self = .signed(value)
        } else {
            self = .unsigned(value)
        }
    }
}
