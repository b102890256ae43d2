// SPDX-License-Identifier: MIT
import JSON

/// How an SQL value becomes JSON: as with `to_jsonb`, from the output of the type's output function.
///
/// Source: json_categorize_type and datum_to_jsonb in PostgreSQL's src/backend/utils/adt.
indirect enum ValueKind: Sendable, Equatable {
    case boolean
    /// Integers, floating point and numeric.
    case number
    /// json and jsonb: already JSON.
    case json
    case timestamp
    /// A timestamp followed by `+00`: sessions are in UTC.
    case zonedTimestamp
    case array(of: ValueKind, delimiter: UInt8)
    /// int2vector and oidvector: numbers separated by blanks.
    case vector(of: ValueKind)
    case composite([Field])
    /// The extension hstore.
    case keyValues
    /// A PostGIS geometry that is a property: GeoJSON, as its cast to json returns it.
    case geometry
    /// Everything else is a string.
    case text

    /// Whether the JSON of such a value is composed of scalars here, so that it is valid without a check.
    var isKnownValid: Bool {
        switch self {
        case .boolean, .number, .timestamp, .zonedTimestamp, .keyValues, .text: true
        case .json, .array, .vector, .composite, .geometry: false
        }
    }

    struct Field: Sendable, Equatable {
        /// The name as a JSON string.
        let name: [UInt8]
        let kind: ValueKind
        /// The field's index in the composite type; fields are in jsonb's order of keys.
        let index: Int
    }
}

/// Writes SQL values as JSON. The JSON of a value is the same whichever way it came from the server.
enum ValueWriter {
    static func append(
        _ text: ArraySlice<UInt8>, as kind: ValueKind, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        switch kind {
        case .text: writer.append(text: text)
        case .number: NumberText.append(text, to: &writer)
        case .boolean:
            if text.first == UInt8(ascii: "t") { writer.append("true") } else { writer.append("false") }
        case .json: appendJSON(text, to: &writer)
        case .timestamp: appendTime(text, isZoned: false, to: &writer)
        case .zonedTimestamp: appendTime(text, isZoned: true, to: &writer)
        case .array(let element, let delimiter):
            var parser = ArrayText(text, delimiter: delimiter)
            try parser.append(as: element, to: &writer)
        case .vector(let element):
            writer.append(UInt8(ascii: "["))
            for (index, item) in text.split(separator: UInt8(ascii: " ")).enumerated() {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                try append(item, as: element, to: &writer)
            }
            writer.append(UInt8(ascii: "]"))
        case .composite(let fields): try CompositeText.append(text, fields, to: &writer)
        case .keyValues: try KeyValueText.append(text, to: &writer)
        case .geometry: try GeometryText.append(hexadecimal: text, to: &writer)
        }
    }

    /// Appends JSON unchanged, except for line ends between its tokens: a feature is one line.
    private static func appendJSON(_ text: ArraySlice<UInt8>, to writer: inout ByteWriter) {
        guard text.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            return writer.append(contentsOf: text)
        }
        writer.reserve(text.count)
        for byte in text {
            let isEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            writer.append(isEnd ? UInt8(ascii: " ") : byte)
        }
    }

    /// Appends a time: `2026-01-31 12:00:00.5+00 BC` with a T for the blank, and with minutes in the zone.
    private static func appendTime(_ text: ArraySlice<UInt8>, isZoned: Bool, to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "\""))
        // "infinity" has no blank; the second blank is the one before BC.
        guard let blank = text.firstIndex(of: UInt8(ascii: " ")) else {
            writer.append(contentsOf: text)
            return writer.append(UInt8(ascii: "\""))
        }
        let time = text[(blank + 1)...]
        let end = time.firstIndex(of: UInt8(ascii: " ")) ?? text.endIndex
        writer.append(contentsOf: text[..<blank])
        writer.append(UInt8(ascii: "T"))
        writer.append(contentsOf: time[..<end])
        if isZoned { writer.append(":00") }
        writer.append(contentsOf: text[end...])
        writer.append(UInt8(ascii: "\""))
    }
}

/// The order of an object's keys in jsonb: shorter keys first, then by bytes.
enum JSONBOrder {
    static func precedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count ? first.lexicographicallyPrecedes(second) : first.count < second.count
    }
}

/// Writes numbers as `to_jsonb` does: without exponents, because it converts them to `numeric`.
enum NumberText {
    static func append(_ text: ArraySlice<UInt8>, to writer: inout ByteWriter) {
        let end = text.firstIndex { byte in
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) && byte != UInt8(ascii: "-")
                && byte != UInt8(ascii: ".")
        }
        guard let end else {
            if text.count == 2, text.first == UInt8(ascii: "-"), text.last == UInt8(ascii: "0") {
                return writer.append(UInt8(ascii: "0"))
            }
            return writer.append(contentsOf: text)
        }
        guard text[end] == UInt8(ascii: "e"), end > text.startIndex else {
            return writer.append(text: text)  // NaN and the infinities
        }
        expand(text, exponentAt: end, to: &writer)
    }

    /// Expands an exponent: `-1.5e+20` to `-150000000000000000000`, `1e-07` to `0.0000001`.
    private static func expand(_ text: ArraySlice<UInt8>, exponentAt end: Int, to writer: inout ByteWriter) {
        // A type's exponents have at most three digits.
        guard let exponent = Int(String(decoding: text[(end + 1)...], as: UTF8.self)),
            exponent.magnitude < 1000
        else { return writer.append(text: text) }
        var digits: [UInt8] = []
        var pointAfter: Int?
        for byte in text[..<end] where byte != UInt8(ascii: "-") {
            if byte == UInt8(ascii: ".") { pointAfter = digits.count } else { digits.append(byte) }
        }
        if text.first == UInt8(ascii: "-") { writer.append(UInt8(ascii: "-")) }
        let point = (pointAfter ?? digits.count) + exponent
        if point <= 0 {
            writer.append("0.")
            for _ in point..<0 { writer.append(UInt8(ascii: "0")) }
            writer.append(contentsOf: digits)
            return
        }
        for index in 0..<max(point, digits.count) {
            if index == point { writer.append(UInt8(ascii: ".")) }
            writer.append(index < digits.count ? digits[index] : UInt8(ascii: "0"))
        }
    }
}
