// SPDX-License-Identifier: MIT
import JSON
import Protobuf
import TypedFeatures

/// Reads messages from protobuf's JSON mapping, and writes their fields.
struct MappedReader {
    /// Writes the fields of a message.
    func read(_ plan: MessagePlan, _ object: JSONElement, into bytes: inout ByteWriter) throws(FieldFault) {
        guard object.kind == .object else { throw FieldFault("must be an object.") }
        var seen = [Bool](repeating: false, count: plan.fields.count)
        for (key, value) in object.members {
            let name = key.string ?? ""
            guard let index = plan.fields.firstIndex(where: { $0.jsonName == name || $0.name == name }) else {
                throw FieldFault("is unknown: \(plan.shortName) does not have it.").inside("." + name)
            }
            let field = plan.fields[index]
            // Null is none, except where it is a value.
            if value.kind == .null, field.plan.shortName != "Value" || field.kind != .message { continue }
            guard !seen[index] else { throw FieldFault("is there twice.").inside("." + name) }
            guard !field.siblings.contains(where: { seen[$0] }) else {
                throw FieldFault("excludes another field that is there.").inside("." + name)
            }
            seen[index] = true
            do throws(FieldFault) { try read(field, value, into: &bytes) } catch { throw error.inside("." + name) }
        }
    }

    private func read(_ field: FieldPlan, _ value: JSONElement, into bytes: inout ByteWriter) throws(FieldFault) {
        if case .map = field.shape { return try read(map: field, value, into: &bytes) }
        guard field.isRepeated else { return try read(single: field, value, into: &bytes) }
        guard value.kind == .array else { throw FieldFault("must be an array.") }
        for (index, element) in value.elements.enumerated() {
            do throws(FieldFault) { try read(single: field, element, into: &bytes) } catch {
                throw error.inside(index)
            }
        }
    }

    private func read(map field: FieldPlan, _ value: JSONElement, into bytes: inout ByteWriter) throws(FieldFault) {
        guard value.kind == .object else { throw FieldFault("must be an object.") }
        let entry = field.plan.fields
        for (key, value) in value.members {
            let start = bytes.beginField(field.number)
            bytes.append(field: entry[0].number, string: key, keepsEmpty: true)
            do throws(FieldFault) { try read(single: entry[1], value, into: &bytes) } catch {
                throw error.inside("." + (key.string ?? ""))
            }
            bytes.endField(start)
        }
    }

    private func read(
        single field: FieldPlan, _ value: JSONElement, into bytes: inout ByteWriter
    ) throws(FieldFault) {
        switch field.kind {
        case .message:
            if case .structure = field.shape {
                guard value.kind == .object else { throw FieldFault("must be an object.") }
                return bytes.append(field: field.number, structure: value.rawText)
            }
            let start = bytes.beginField(field.number)
            try read(field.plan, value, into: &bytes)
            bytes.endField(start)
        case .string:
            guard value.kind == .string else { throw FieldFault("must be a string.") }
            bytes.append(field: field.number, string: value, keepsEmpty: true)
        case .bytes:
            guard let content = value.string.flatMap({ Base64.decode(Array($0.utf8).span) }) else {
                throw FieldFault("must be a string in base64.")
            }
            bytes.append(field: field.number, bytes: content.span)
        case .bool:
            guard let flag = value.bool else { throw FieldFault("must be true or false.") }
            bytes.append(field: field.number, varint: flag ? 1 : 0)
        case .enumeration: bytes.append(field: field.number, varint: try Self.enumeration(field, value))
        case .double, .float: bytes.append(field: field.number, double: try Self.double(value))
        default: bytes.append(field: field.number, varint: try Self.integer(field, value))
        }
    }

    private static func enumeration(_ field: FieldPlan, _ value: JSONElement) throws(FieldFault) -> UInt64 {
        if let number = value.integer, let number = Int32(exactly: number) {
            return UInt64(bitPattern: Int64(number))
        }
        guard let name = value.string, let word = field.words.first(where: { $0.name == name }) else {
            throw FieldFault("must be one of \(field.words.map(\.name).joined(separator: ", ")).")
        }
        return UInt64(bitPattern: Int64(word.number))
    }

    private static func double(_ value: JSONElement) throws(FieldFault) -> Double {
        if let number = value.number { return number }
        switch value.string {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        case let text?:
            let number = JSONText.number(text.utf8Span.span)
            if let number { return number }
        case nil: break
        }
        throw FieldFault("must be a number.")
    }

    /// An integer, also one in quotes, as a varint.
    private static func integer(_ field: FieldPlan, _ value: JSONElement) throws(FieldFault) -> UInt64 {
        let text: [UInt8] = value.kind == .string ? Array((value.string ?? "").utf8) : Array(value.rawText)
        let digits = value.kind == .string || value.kind == .number ? DecimalInteger.digits(text) : nil
        let number = digits.flatMap { IntegerText($0) }
        let isSigned: Bool
        let isLong = field.isLong
        switch field.kind {
        case .int32, .int64, .sint32, .sint64, .sfixed32, .sfixed64: isSigned = true
        default: isSigned = false
        }
        switch number {
        case .signed(let number) where isSigned && (isLong || Int32(exactly: number) != nil):
            let isZigZag = field.kind == .sint32 || field.kind == .sint64
            return isZigZag ? WireFormat.zigZag(number) : UInt64(bitPattern: number)
        case .signed(let number) where !isSigned && number >= 0 && (isLong || UInt32(exactly: number) != nil):
            return UInt64(number)
        case .unsigned(let number) where !isSigned && isLong: return number
        default:
            let range = isSigned ? "-2^\(isLong ? 63 : 31) to 2^\(isLong ? 63 : 31)-1" : "0 to 2^\(isLong ? 64 : 32)-1"
            throw FieldFault("must be an integer from \(range).")
        }
    }
}
