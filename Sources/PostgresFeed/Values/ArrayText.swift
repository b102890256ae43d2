// SPDX-License-Identifier: MIT
import JSON

/// An array in PostgreSQL's text form: `{1,2,{"a b",NULL}}`, preceded by `[0:1]=` if indexes do not begin at
/// 1.
struct ArrayText {
    private let text: UnsafeRawBufferPointer
    private let delimiter: UInt8
    private var offset = 0

    init(_ text: UnsafeRawBufferPointer, delimiter: UInt8) {
        (self.text, self.delimiter) = (text, delimiter)
        if text.first == UInt8(ascii: "["), let equals = text.firstIndex(of: UInt8(ascii: "=")) {
            offset = equals + 1
        }
    }

    /// Writes the array as JSON.
    mutating func append(as element: ValueKind, to writer: inout ByteWriter) throws(PostgresDataError) {
        guard current == UInt8(ascii: "{") else { throw Self.malformed }
        var depth = 0
        repeat {
            switch current {
            case UInt8(ascii: "{"):
                depth += 1
                writer.append(UInt8(ascii: "["))
                offset += 1
            case UInt8(ascii: "}"):
                depth -= 1
                writer.append(UInt8(ascii: "]"))
                offset += 1
            case delimiter:
                writer.append(UInt8(ascii: ","))
                offset += 1
            case nil: throw Self.malformed
            default: try appendElement(as: element, to: &writer)
            }
        } while depth > 0
        guard offset == text.count else { throw Self.malformed }
    }

    private var current: UInt8? { offset < text.count ? text[offset] : nil }

    private static let malformed = PostgresDataError("the server sent an array whose text is not valid")

    private mutating func appendElement(
        as kind: ValueKind, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        let isQuoted = current == UInt8(ascii: "\"")
        if isQuoted { offset += 1 }
        var element: [UInt8] = []
        while let byte = current {
            if isQuoted ? byte == UInt8(ascii: "\"") : byte == delimiter || byte == UInt8(ascii: "}") {
                break
            }
            if byte == UInt8(ascii: "\\") { offset += 1 }
            guard let byte = current else { throw Self.malformed }
            element.append(byte)
            offset += 1
        }
        guard current != nil else { throw Self.malformed }
        if isQuoted { offset += 1 }
        if !isQuoted, element.elementsEqual("NULL".utf8) { return writer.append("null") }
        try element.withBytes { (bytes) throws(PostgresDataError) in
            try ValueWriter.append(bytes, as: kind, to: &writer)
        }
    }
}
