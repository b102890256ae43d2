// SPDX-License-Identifier: MIT
import JSON

/// The text form of hstore: `"a"=>"1", "b"=>NULL`.
enum KeyValueText {
    /// Writes an object of strings, its members in jsonb's order.
    static func append(
        _ text: UnsafeRawBufferPointer, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        var members: [(key: [UInt8], value: [UInt8]?)] = []
        var offset = 0
        while offset < text.count {
            if !members.isEmpty { try skip(", ", in: text, &offset) }
            guard let key = try string(text, &offset) else { throw malformed }
            try skip("=>", in: text, &offset)
            members.append((key, try string(text, &offset)))
        }
        members.sort { JSONBOrder.precedes($0.key, $1.key) }
        writer.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            member.key.withUnsafeBytes { writer.append(json: $0) }
            writer.append(UInt8(ascii: ":"))
            if let value = member.value {
                value.withUnsafeBytes { writer.append(json: $0) }
            } else {
                writer.append("null")
            }
        }
        writer.append(UInt8(ascii: "}"))
    }

    private static let malformed = PostgresDataError("the server sent an hstore whose text is not valid")

    private static func skip(
        _ word: String, in text: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(PostgresDataError) {
        guard text[offset...].starts(with: word.utf8) else { throw malformed }
        offset += word.utf8.count
    }

    /// A text in quotation marks; nil for NULL.
    private static func string(
        _ text: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(PostgresDataError) -> [UInt8]? {
        if text[offset...].starts(with: "NULL".utf8) {
            offset += 4
            return nil
        }
        try skip("\"", in: text, &offset)
        var value: [UInt8] = []
        while offset < text.count {
            var byte = text[offset]
            offset += 1
            if byte == UInt8(ascii: "\"") { return value }
            if byte == UInt8(ascii: "\\") {
                guard offset < text.count else { break }
                byte = text[offset]
                offset += 1
            }
            value.append(byte)
        }
        throw malformed
    }
}
