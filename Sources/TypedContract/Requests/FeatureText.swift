// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// Writes features and ids of requests as GeoJSON.
enum FeatureText {
    /// Writes an id: a number or a string, or null if it has no value.
    ///
    /// - Returns: the value, which may lack the last digits of a long integer.
    static func write(
        identifier plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>, into text: inout ByteWriter
    ) throws(FieldFault) -> JSONValue {
        let fields = try MessageFields(of: plan, in: bytes, range)
        guard let index = plan.fields.indices.first(where: { fields.has($0) }) else {
            text.append("null")
            return .null
        }
        switch plan.fields[index].scalar(fields.last(index)) {
        case .signed(let number):
            text.append(integer: number)
            return .number(Double(number))
        case .unsigned(let number):
            text.append(integer: number)
            return .number(Double(number))
        case .number(let number):
            guard number.isFinite else { throw FieldFault("must be a finite number.") }
            text.append(number: number)
            return .number(number)
        case .bytes(let range):
            let string = try FieldText.string(range, in: bytes)
            text.append(json: string)
            return .string(string)
        case .flag, .enumeration:
            text.append("null")
            return .null
        }
    }

    /// Writes a feature. Without a geometry it is an invalid feature, as in GeoJSON, and not an invalid message.
    static func write(
        feature plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>, _ parser: JSONParser,
        into text: inout ByteWriter
    ) throws(FieldFault) {
        let fields = try MessageFields(of: plan, in: bytes, range)
        var parts = Parts()
        for index in plan.fields.indices where fields.has(index) {
            let field = plan.fields[index]
            do throws(FieldFault) {
                try read(index, of: fields, in: bytes, parser, &parts)
            } catch {
                throw error.inside(field.step)
            }
        }
        text.append("{\"type\":\"Feature\"")
        if !parts.identifier.isEmpty {
            text.append(",\"id\":")
            text.append(contentsOf: parts.identifier)
        }
        text.append(",\"geometry\":")
        parts.geometry.isEmpty ? text.append("null") : text.append(contentsOf: parts.geometry)
        text.append(",\"properties\":")
        parts.properties.isEmpty ? text.append("null") : text.append(contentsOf: parts.properties)
        text.append(contentsOf: parts.members)
        text.append("}")
    }

    /// The texts of a feature's members; empty if there are none.
    private struct Parts {
        var identifier: [UInt8] = []
        var geometry: [UInt8] = []
        var properties: [UInt8] = []
        /// Each after a comma.
        var members: [UInt8] = []
    }

    private static func read(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>, _ parser: JSONParser, _ parts: inout Parts
    ) throws(FieldFault) {
        let field = fields.plan.fields[index]
        if case .bytes(let range) = fields.last(index), case .json(let isObject) = field.shape {
            if field.name == "members_json" {
                guard !range.isEmpty else { return }
                parts.members = try members(range, in: bytes, parser)
                return
            }
            try FieldText.check(json: range, isObject: isObject, in: bytes, parser)
            let json = Array(copying: bytes.extracting(range))
            if field.name == "geometry_json" { parts.geometry = json } else { parts.properties = json }
            return
        }
        var text = ByteWriter()
        try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
            switch field.shape {
            case .featureID:
                let value = try write(identifier: field.plan, in: bytes, range, into: &text)
                if value != .null { parts.identifier = text.bytes }
            case .position:
                try write(position: field.plan, in: bytes, range, into: &text)
                parts.geometry = text.bytes
            default:
                try StructText.write(field.plan, in: bytes, range, depth: 0, into: &text)
                parts.properties = text.bytes
            }
        }
    }

    /// Writes a point. A coordinate that is no finite number is null, which makes the feature invalid.
    private static func write(
        position plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>, into text: inout ByteWriter
    ) throws(FieldFault) {
        let fields = try MessageFields(of: plan, in: bytes, range)
        text.append("{\"type\":\"Point\",\"coordinates\":[")
        for index in plan.fields.indices where !plan.fields[index].isRepeated {
            if index > 0 { text.append(",") }
            append(fields.has(index) ? fields.last(index) : .fixed64(0), to: &text)
        }
        for index in plan.fields.indices where plan.fields[index].isRepeated {
            try fields.forEach(index, in: bytes) { value in
                text.append(",")
                append(value, to: &text)
            }
        }
        text.append("]}")
    }

    private static func append(_ value: FieldReader.Value, to text: inout ByteWriter) {
        guard case .fixed64(let bits) = value else { return text.append("null") }
        text.append(number: Double(bitPattern: bits))
    }

    /// The further members of a feature, each after a comma.
    private static func members(
        _ range: Range<Int>, in bytes: Span<UInt8>, _ parser: JSONParser
    ) throws(FieldFault) -> [UInt8] {
        try FieldText.withJSON(range, isObject: true, in: bytes, parser) { (object) throws(FieldFault) in
            var text = ByteWriter()
            for (key, value) in object.members {
                guard !reserved.contains(where: { key.isString($0) }) else {
                    throw FieldFault("has the member \(key.value.text), which the message has a field for.")
                }
                text.append(",")
                text.append(contentsOf: key.rawText)
                text.append(":")
                text.append(contentsOf: value.rawText)
            }
            return text.bytes
        }
    }

    private static let reserved = ["type", "id", "geometry", "properties"].map { Array($0.utf8) }
}

/// Writes google.protobuf.Struct as JSON.
enum StructText {
    /// Writes a Struct, a ListValue or a Value.
    static func write(
        _ plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>, depth: Int, into text: inout ByteWriter
    ) throws(FieldFault) {
        guard depth <= 2 * FieldFault.maximumDepth else { throw FieldFault.tooDeep }
        let fields = try MessageFields(of: plan, in: bytes, range)
        switch plan.shortName {
        case "Struct":
            try write(list: 0, of: fields, in: bytes, depth, "{", "}", into: &text)
        case "ListValue":
            try write(list: 0, of: fields, in: bytes, depth, "[", "]", into: &text)
        case "FieldsEntry":
            let key: Range<Int> = if fields.has(0), case .bytes(let key) = fields.last(0) { key } else { 0..<0 }
            text.append(json: try FieldText.string(key, in: bytes))
            text.append(":")
            guard fields.has(1) else { return text.append("null") }
            try fields.withMessage(1, in: bytes) { (bytes, range) throws(FieldFault) in
                try write(plan.fields[1].plan, in: bytes, range, depth: depth + 1, into: &text)
            }
        default:
            try write(value: fields, in: bytes, depth, into: &text)
        }
    }

    private static func write(
        value fields: MessageFields, in bytes: Span<UInt8>, _ depth: Int, into text: inout ByteWriter
    ) throws(FieldFault) {
        let plan = fields.plan
        guard let index = plan.fields.indices.first(where: { fields.has($0) }) else { return text.append("null") }
        let field = plan.fields[index]
        if field.kind == .message {
            return try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
                try write(field.plan, in: bytes, range, depth: depth + 1, into: &text)
            }
        }
        switch field.scalar(fields.last(index)) {
        case .number(let number):
            guard number.isFinite else { throw FieldFault("has a number that is not finite.") }
            text.append(number: number)
        case .flag(let flag): flag ? text.append("true") : text.append("false")
        case .bytes(let range): text.append(json: try FieldText.string(range, in: bytes))
        default: text.append("null")
        }
    }

    private static func write(
        list index: Int, of fields: MessageFields, in bytes: Span<UInt8>, _ depth: Int,
        _ open: StaticString, _ close: StaticString, into text: inout ByteWriter
    ) throws(FieldFault) {
        let plan = fields.plan.fields[index].plan
        text.append(open)
        var isFirst = true
        try fields.forEach(index, in: bytes) { (value) throws(FieldFault) in
            guard case .bytes(let range) = value else { return }
            if !isFirst { text.append(",") }
            isFirst = false
            try write(plan, in: bytes, range, depth: depth + 1, into: &text)
        }
        text.append(close)
    }
}
