// SPDX-License-Identifier: MIT
import JSON

/// An array in PostgreSQL's text form: `{1,2,{"a b",NULL}}`, preceded by `[0:1]=` if indexes do not begin at 1.
struct ArrayText {
    private let text: ArraySlice<UInt8>
    private let delimiter: UInt8
    private var index: Int

    init(_ text: ArraySlice<UInt8>, delimiter: UInt8) {
        (self.text, self.delimiter, index) = (text, delimiter, text.startIndex)
        if text.first == UInt8(ascii: "["), let equals = text.firstIndex(of: UInt8(ascii: "=")) {
            index = equals + 1
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
                index += 1
            case UInt8(ascii: "}"):
                depth -= 1
                writer.append(UInt8(ascii: "]"))
                index += 1
            case delimiter:
                writer.append(UInt8(ascii: ","))
                index += 1
            case nil: throw Self.malformed
            default: try appendElement(as: element, to: &writer)
            }
        } while depth > 0
        guard index == text.endIndex else { throw Self.malformed }
    }

    private var current: UInt8? { index < text.endIndex ? text[index] : nil }

    private static let malformed = PostgresDataError("the server sent an array whose text is not valid")

    private mutating func appendElement(as kind: ValueKind, to writer: inout ByteWriter) throws(PostgresDataError) {
        let isQuoted = current == UInt8(ascii: "\"")
        if isQuoted { index += 1 }
        var element: [UInt8] = []
        while let byte = current {
            if isQuoted ? byte == UInt8(ascii: "\"") : byte == delimiter || byte == UInt8(ascii: "}") { break }
            if byte == UInt8(ascii: "\\") { index += 1 }
            guard let byte = current else { throw Self.malformed }
            element.append(byte)
            index += 1
        }
        guard current != nil else { throw Self.malformed }
        if isQuoted { index += 1 }
        if !isQuoted, element.elementsEqual("NULL".utf8) { return writer.append("null") }
        try ValueWriter.append(element[...], as: kind, to: &writer)
    }
}

/// A composite value in PostgreSQL's text form: `(1,"a b",)`; an empty field is NULL.
enum CompositeText {
    /// Writes the value as an object, its members in jsonb's order.
    static func append(
        _ text: ArraySlice<UInt8>, _ fields: [ValueKind.Field], to writer: inout ByteWriter
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
            try ValueWriter.append(value[...], as: field.kind, to: &writer)
        }
        writer.append(UInt8(ascii: "}"))
    }

    private static let malformed = PostgresDataError("the server sent a composite value whose text is not valid")

    /// The fields' texts; nil for NULL.
    static func values(_ text: ArraySlice<UInt8>) throws(PostgresDataError) -> [[UInt8]?] {
        guard text.count >= 2, text.first == UInt8(ascii: "("), text.last == UInt8(ascii: ")") else {
            throw malformed
        }
        var values: [[UInt8]?] = []
        var value: [UInt8] = []
        var (isQuoted, wasQuoted) = (false, false)
        var rest = text.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { throw malformed }
                value.append(escaped)
            case UInt8(ascii: "\"") where isQuoted && rest.first == byte:
                value.append(byte)
                rest.removeFirst()
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

/// The text form of hstore: `"a"=>"1", "b"=>NULL`.
enum KeyValueText {
    /// Writes an object of strings, its members in jsonb's order.
    static func append(_ text: ArraySlice<UInt8>, to writer: inout ByteWriter) throws(PostgresDataError) {
        var members: [(key: [UInt8], value: [UInt8]?)] = []
        var rest = text
        while !rest.isEmpty {
            if !members.isEmpty { try skip(", ", in: &rest) }
            guard let key = try string(&rest) else { throw malformed }
            try skip("=>", in: &rest)
            members.append((key, try string(&rest)))
        }
        members.sort { JSONBOrder.precedes($0.key, $1.key) }
        writer.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            writer.append(text: member.key[...])
            writer.append(UInt8(ascii: ":"))
            if let value = member.value {
                writer.append(text: value[...])
            } else {
                writer.append("null")
            }
        }
        writer.append(UInt8(ascii: "}"))
    }

    private static let malformed = PostgresDataError("the server sent an hstore whose text is not valid")

    private static func skip(_ word: String, in rest: inout ArraySlice<UInt8>) throws(PostgresDataError) {
        guard rest.starts(with: word.utf8) else { throw malformed }
        rest = rest.dropFirst(word.utf8.count)
    }

    /// A text in quotation marks; nil for NULL.
    private static func string(_ rest: inout ArraySlice<UInt8>) throws(PostgresDataError) -> [UInt8]? {
        if rest.starts(with: "NULL".utf8) {
            rest = rest.dropFirst(4)
            return nil
        }
        try skip("\"", in: &rest)
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return value }
            guard let byte = byte == UInt8(ascii: "\\") ? rest.popFirst() : byte else { break }
            value.append(byte)
        }
        throw malformed
    }
}
