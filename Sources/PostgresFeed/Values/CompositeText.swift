// SPDX-License-Identifier: MIT
import JSON

/// A composite value in PostgreSQL's text form: `(1,"a b",)`; an empty field is NULL.
enum CompositeText {
    /// Writes the value as an object, its members in jsonb's order.
    static func append(
        _ text: UnsafeRawBufferPointer, _ fields: [ValueKind.Field], to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        let values = try values(text)
        guard values.count == fields.count || (fields.isEmpty && values.count == 1) else { throw malformed }
        writer.append(UInt8(ascii: "{"))
        for (position, field) in fields.enumerated() {
            if position > 0 { writer.append(UInt8(ascii: ",")) }
            writer.append(contentsOf: field.name)
            writer.append(UInt8(ascii: ":"))
            guard field.index < values.count else { throw malformed }
            guard let value = values[field.index] else {
                writer.append("null")
                continue
            }
            try value.withBytes { (bytes) throws(PostgresDataError) in
                try ValueWriter.append(bytes, as: field.kind, to: &writer)
            }
        }
        writer.append(UInt8(ascii: "}"))
    }

    private static let malformed = PostgresDataError(
        "the server sent a composite value whose text is not valid")

    /// The fields' texts; nil for NULL.
    static func values(_ text: UnsafeRawBufferPointer) throws(PostgresDataError) -> [[UInt8]?] {
        guard text.count >= 2, text.first == UInt8(ascii: "("), text.last == UInt8(ascii: ")") else {
            throw malformed
        }
        var values: [[UInt8]?] = []
        var value: [UInt8] = []
        var (isQuoted, wasQuoted) = (false, false)
        var offset = 1
        while offset < text.count {
            let byte = text[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\\"):
                guard offset < text.count else { throw malformed }
                value.append(text[offset])
                offset += 1
            case UInt8(ascii: "\"") where isQuoted && offset < text.count && text[offset] == byte:
                value.append(byte)
                offset += 1
            case UInt8(ascii: "\""):
                isQuoted.toggle()
                wasQuoted = true
            case UInt8(ascii: ",") where !isQuoted, UInt8(ascii: ")") where !isQuoted:
                values.append(value.isEmpty && !wasQuoted ? nil : value)
                (value, wasQuoted) = ([], false)
            default: value.append(byte)
            }
        }
        guard !isQuoted, value.isEmpty else { throw malformed }
        return values
    }
}
