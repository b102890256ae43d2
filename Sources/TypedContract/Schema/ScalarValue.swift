// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// A field's value by its declared type.
enum ScalarValue {
    case signed(Int64)
    case unsigned(UInt64)
    case number(Double)
    case flag(Bool)
    case enumeration(Int32)
    /// Where a string or bytes are.
    case bytes(Range<Int>)
}

extension FieldPlan {
    /// What a value of its layout is. As protobuf does, numbers of 32 bits lose what is beyond.
    @inline(__always) func scalar(_ value: FieldReader.Value) -> ScalarValue {
        switch (value, kind) {
        case (.bytes(let range), _): .bytes(range)
        case (.varint(let bits), .bool): .flag(bits != 0)
        case (.varint(let bits), .enumeration): .enumeration(Int32(truncatingIfNeeded: bits))
        case (.varint(let bits), .int32): .signed(Int64(Int32(truncatingIfNeeded: bits)))
        case (.varint(let bits), .uint32): .unsigned(UInt64(UInt32(truncatingIfNeeded: bits)))
        case (.varint(let bits), .sint32):
            .signed(WireFormat.zigZagDecoded(UInt64(UInt32(truncatingIfNeeded: bits))))
        case (.varint(let bits), .sint64): .signed(WireFormat.zigZagDecoded(bits))
        case (.varint(let bits), .int64): .signed(Int64(bitPattern: bits))
        case (.varint(let bits), _): .unsigned(bits)
        case (.fixed64(let bits), .double): .number(Double(bitPattern: bits))
        case (.fixed64(let bits), .sfixed64): .signed(Int64(bitPattern: bits))
        case (.fixed64(let bits), _): .unsigned(bits)
        case (.fixed32(let bits), .float): .number(Double(Float(bitPattern: bits)))
        case (.fixed32(let bits), .sfixed32): .signed(Int64(Int32(bitPattern: bits)))
        case (.fixed32(let bits), _): .unsigned(UInt64(bits))
        }
    }

    /// Whether it is a number of 64 bits, which protobuf's JSON has in quotes.
    var isLong: Bool {
        switch kind {
        case .int64, .uint64, .sint64, .fixed64, .sfixed64: true
        default: false
        }
    }
}

/// Texts of a message.
enum FieldText {
    /// A string field's text. Rejects what is not UTF-8.
    static func string(_ range: Range<Int>, in bytes: Span<UInt8>) throws(FieldFault) -> String {
        guard let text = try? UTF8Span(validating: bytes.extracting(range)) else {
            throw FieldFault("is not UTF-8.")
        }
        return String(copying: text)
    }

    /// Rejects bytes that are not the text of one JSON value, or not that of an object.
    static func check(
        json range: Range<Int>, isObject: Bool, in bytes: Span<UInt8>, _ parser: JSONParser
    ) throws(FieldFault) {
        try withJSON(range, isObject: isObject, in: bytes, parser) { _ in }
    }

    /// Passes on the JSON value of a text.
    static func withJSON<Result>(
        _ range: Range<Int>, isObject: Bool, in bytes: Span<UInt8>, _ parser: JSONParser,
        _ body: (JSONElement) throws(FieldFault) -> Result
    ) throws(FieldFault) -> Result {
        do {
            return try parser.withTape(of: bytes.extracting(range)) { (tape) throws(FieldFault) in
                guard !isObject || tape.root.kind == .object else {
                    throw FieldFault("must be the text of a JSON object.")
                }
                return try body(tape.root)
            }
        } catch {
            switch error {
            case .body(let fault): throw fault
            case .json(let error): throw FieldFault("is not JSON: \(error.message)")
            }
        }
    }
}
