// SPDX-License-Identifier: MIT
import JSON

/// Writes SQL values as JSON. The JSON of a value is the same whichever way it came from the server.
enum ValueWriter {
    static func append(
        _ text: UnsafeRawBufferPointer, as kind: ValueKind, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        switch kind {
        case .text: appendString(text, to: &writer)
        case .number: NumberText.append(text, to: &writer)
        case .boolean:
            if text.first == UInt8(ascii: "t") { writer.append("true") } else { writer.append("false") }
        case .json: appendJSON(text, to: &writer)
        case .timestamp, .zonedTimestamp: appendTime(text, isZoned: kind == .zonedTimestamp, to: &writer)
        case .array(let element, let delimiter):
            var parser = ArrayText(text, delimiter: delimiter)
            try parser.append(as: element, to: &writer)
        case .vector(let element):
            writer.append(UInt8(ascii: "["))
            for (index, item) in text.split(separator: UInt8(ascii: " ")).enumerated() {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                try append(UnsafeRawBufferPointer(rebasing: item), as: element, to: &writer)
            }
            writer.append(UInt8(ascii: "]"))
        case .composite(let fields): try CompositeText.append(text, fields, to: &writer)
        case .keyValues: try KeyValueText.append(text, to: &writer)
        case .geometry: try GeometryText.append(hexadecimal: text, to: &writer)
        }
    }

    private static func appendString(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        // Databases with the encoding SQL_ASCII may contain any bytes.
        if JSONText.isUTF8(text) {
            writer.append(json: text)
        } else {
            writer.append(json: String(decoding: text, as: UTF8.self))
        }
    }

    /// Appends JSON unchanged, except for line ends between its tokens: a feature is one line.
    private static func appendJSON(_ text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        let start = writer.count
        guard text.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
            return writer.append(contentsOf: text)
        }
        writer.reserve(text.count)
        for byte in text {
            let isEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            writer.append(isEnd ? UInt8(ascii: " ") : byte)
        }
        assert(writer.count == start + text.count)
    }

    /// Appends a time: `2026-01-31 12:00:00.5+00 BC` with a T for the blank, and with minutes in the zone.
    private static func appendTime(
        _ text: UnsafeRawBufferPointer, isZoned: Bool, to writer: inout ByteWriter
    ) {
        writer.append(UInt8(ascii: "\""))
        // "infinity" has no blank; the second blank is the one before BC.
        guard let blank = text.firstIndex(of: UInt8(ascii: " ")) else {
            writer.append(contentsOf: text)
            return writer.append(UInt8(ascii: "\""))
        }
        let time = text[(blank + 1)...]
        let end = time.firstIndex(of: UInt8(ascii: " ")) ?? text.endIndex
        writer.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[..<blank]))
        writer.append(UInt8(ascii: "T"))
        writer.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[(blank + 1)..<end]))
        if isZoned { writer.append(":00") }
        writer.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[end...]))
        writer.append(UInt8(ascii: "\""))
    }
}
