// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// Writes messages in protobuf's JSON mapping. Fields with their default are left out.
enum MappedWriter {
    static func write(
        _ plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>, depth: Int, into text: inout ByteWriter
    ) throws(FieldFault) {
        guard depth < FieldFault.maximumDepth else { throw FieldFault.tooDeep }
        let fields = try MessageFields(of: plan, in: bytes, range)
        text.append("{")
        var isFirst = true
        for index in plan.fields.indices where fields.has(index) {
            let field = plan.fields[index]
            guard field.isRepeated || field.hasPresence || !field.isDefault(fields.last(index)) else { continue }
            if !isFirst { text.append(",") }
            isFirst = false
            text.append(json: field.jsonName)
            text.append(":")
            do throws(FieldFault) {
                try write(index, of: fields, in: bytes, depth: depth, into: &text)
            } catch {
                throw error.inside("." + field.jsonName)
            }
        }
        text.append("}")
    }

    private static func write(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>, depth: Int, into text: inout ByteWriter
    ) throws(FieldFault) {
        let field = fields.plan.fields[index]
        if case .map = field.shape { return try write(map: index, of: fields, in: bytes, into: &text) }
        guard field.isRepeated else {
            guard field.kind == .message else {
                return try write(fields.last(index), of: field, in: bytes, into: &text)
            }
            return try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
                try write(message: field, in: bytes, range, depth: depth, into: &text)
            }
        }
        text.append("[")
        var isFirst = true
        try fields.forEach(index, in: bytes) { (value) throws(FieldFault) in
            if !isFirst { text.append(",") }
            isFirst = false
            if field.kind == .message, case .bytes(let range) = value {
                try write(message: field, in: bytes, range, depth: depth, into: &text)
            } else {
                try write(value, of: field, in: bytes, into: &text)
            }
        }
        text.append("]")
    }

    private static func write(
        message field: FieldPlan, in bytes: Span<UInt8>, _ range: Range<Int>, depth: Int, into text: inout ByteWriter
    ) throws(FieldFault) {
        if case .structure = field.shape {
            return try StructText.write(field.plan, in: bytes, range, depth: 0, into: &text)
        }
        try write(field.plan, in: bytes, range, depth: depth + 1, into: &text)
    }

    /// A map whose keys are strings.
    private static func write(
        map index: Int, of fields: MessageFields, in bytes: Span<UInt8>, into text: inout ByteWriter
    ) throws(FieldFault) {
        let plan = fields.plan.fields[index].plan
        text.append("{")
        var isFirst = true
        try fields.forEach(index, in: bytes) { (value) throws(FieldFault) in
            guard case .bytes(let range) = value else { return }
            let entry = try MessageFields(of: plan, in: bytes, range)
            if !isFirst { text.append(",") }
            isFirst = false
            let key: Range<Int> = if entry.has(0), case .bytes(let key) = entry.last(0) { key } else { 0..<0 }
            text.append(json: try FieldText.string(key, in: bytes))
            text.append(":")
            try write(entry.has(1) ? entry.last(1) : .varint(0), of: plan.fields[1], in: bytes, into: &text)
        }
        text.append("}")
    }

    private static func write(
        _ value: FieldReader.Value, of field: FieldPlan, in bytes: Span<UInt8>, into text: inout ByteWriter
    ) throws(FieldFault) {
        switch field.scalar(value) {
        case .flag(let flag): flag ? text.append("true") : text.append("false")
        case .number(let number):
            number.isFinite ? text.append(number: number) : text.append(json: String(javaScript: number))
        case .signed(let number):
            if field.isLong { text.append("\"") }
            text.append(integer: number)
            if field.isLong { text.append("\"") }
        case .unsigned(let number):
            if field.isLong { text.append("\"") }
            text.append(integer: number)
            if field.isLong { text.append("\"") }
        case .enumeration(let number):
            if let word = field.words.first(where: { $0.number == number }) {
                text.append(json: word.name)
            } else {
                text.append(integer: number)
            }
        case .bytes(let range) where field.kind == .bytes:
            text.append("\"")
            Base64.append(bytes.extracting(range), to: &text)
            text.append("\"")
        case .bytes(let range): text.append(json: try FieldText.string(range, in: bytes))
        }
    }
}

extension FieldPlan {
    /// Whether a value without presence is the default, which JSON leaves out.
    fileprivate func isDefault(_ value: FieldReader.Value) -> Bool {
        switch value {
        case .varint(let bits), .fixed64(let bits): bits == 0
        case .fixed32(let bits): bits == 0
        case .bytes(let range): range.isEmpty
        }
    }
}
