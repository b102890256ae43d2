// SPDX-License-Identifier: MIT
import JSON
import Protobuf

/// Reads a message as the JSON object that it stands for.
struct ParamsReader {
    let parser: JSONParser
    private(set) var object = JSONObject()
    private(set) var structProperties = false
    /// The texts of members that a parsed value would lose: features, and the digits of long ids.
    private var texts: [(member: String, text: [UInt8])] = []

    init(parser: JSONParser) { self.parser = parser }

    /// The text of an item's features, an array; nil if it has none.
    var features: [UInt8]? { texts.first { $0.member == "features" }?.text }

    /// The object's JSON text.
    var text: [UInt8] {
        var bytes = ByteWriter()
        bytes.append("{")
        for (index, member) in object.members.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append(json: member.key)
            bytes.append(":")
            if let text = texts.first(where: { $0.member == member.key })?.text {
                bytes.append(contentsOf: text)
            } else {
                bytes.append(member.value)
            }
        }
        bytes.append("}")
        return bytes.bytes
    }

    /// Adds the members of a message.
    mutating func read(
        _ plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>, depth: Int
    ) throws(FieldFault) {
        guard depth < FieldFault.maximumDepth else { throw FieldFault.tooDeep }
        let fields = try MessageFields(of: plan, in: bytes, range)
        for index in plan.fields.indices {
            let field = plan.fields[index]
            guard fields.has(index) else {
                // A message that has nothing but a list has that list, even if it is empty.
                if field.isRepeated, plan.fields.count == 1 {
                    object[field.member] = .array([])
                    if case .newFeatures = field.shape { texts.append((field.member, Array("[]".utf8))) }
                } else if field.isRequired {
                    object[field.member] = .number(0)
                }
                continue
            }
            if case .flattened = field.shape {
                try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
                    try read(field.plan, in: bytes, range, depth: depth + 1)
                }
                continue
            }
            do throws(FieldFault) {
                if let value = try value(index, of: fields, in: bytes, depth: depth) { object[field.member] = value }
            } catch {
                throw error.inside(field.step)
            }
        }
    }

    /// A field's value; nil if it is left out.
    private mutating func value(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>, depth: Int
    ) throws(FieldFault) -> JSONValue? {
        let field = fields.plan.fields[index]
        switch field.shape {
        case .scalar:
            guard field.isRepeated else { return try scalar(fields.last(index), of: field, in: bytes) }
            return try array(index, of: fields, in: bytes) { (value) throws(FieldFault) in
                // The first value of an enumeration is none, so it is nothing that a list can have.
                guard let value = try Self.element(value, of: field, in: bytes) else {
                    throw FieldFault("is no value: \(field.words.first?.name ?? "0").")
                }
                return value
            }
        case .json(let isObject):
            guard case .bytes(let range) = fields.last(index) else { return nil }
            // Not required and not set: the same for a string without presence.
            guard !range.isEmpty || field.hasPresence else { return nil }
            return try FieldText.withJSON(range, isObject: isObject, in: bytes, parser) { $0.value }
        case .format:
            guard case .enumeration(let number) = field.scalar(fields.last(index)) else { return nil }
            guard let word = field.words.first(where: { $0.number == number }) else { throw Self.unknown(number) }
            structProperties = word.name == "PROPERTIES_FORMAT_STRUCT"
            return nil
        case .featureID:
            return try identifiers(index, of: fields, in: bytes)
        case .newFeatures:
            return try features(index, of: fields, in: bytes)
        case .named: return .object(try named(index, of: fields, in: bytes))
        case .views: return .object(try views(index, of: fields, in: bytes, depth: depth))
        default:
            return try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
                try message(field, in: bytes, range, depth: depth)
            }
        }
    }

    /// A message that is not repeated.
    private mutating func message(
        _ field: FieldPlan, in bytes: Span<UInt8>, _ range: Range<Int>, depth: Int
    ) throws(FieldFault) -> JSONValue? {
        switch field.shape {
        case .box: return try box(field.plan, in: bytes, range)
        case .planar: return .object(["planar": try box(field.plan, in: bytes, range)])
        case .window: return try Self.window(field.plan, in: bytes, range)
        case .list:
            // Its own fault, since the list has no name of its own in JSON.
            let fields = try MessageFields(of: field.plan, in: bytes, range)
            guard let element = field.plan.fields.first else { return nil }
            if case .featureID = element.shape {
                return try identifiers(0, of: fields, in: bytes, member: field.member)
            }
            return try array(0, of: fields, in: bytes) { (value) throws(FieldFault) in
                try Self.element(value, of: element, in: bytes) ?? .null
            }
        default:
            var inner = ParamsReader(parser: parser)
            try inner.read(field.plan, in: bytes, range, depth: depth + 1)
            return .object(inner.object)
        }
    }

    // MARK: Scalars

    /// A single value; nil if it is zero and so means none.
    private func scalar(
        _ value: FieldReader.Value, of field: FieldPlan, in bytes: Span<UInt8>
    ) throws(FieldFault) -> JSONValue? {
        let value = try Self.element(value, of: field, in: bytes)
        guard !field.hasPresence, !field.isRequired else { return value }
        switch value {
        case .number(0), .bool(false), .string(""): return nil
        default: return value
        }
    }

    /// A value by its type; nil for the first value of an enumeration, which means none.
    private static func element(
        _ value: FieldReader.Value, of field: FieldPlan, in bytes: Span<UInt8>
    ) throws(FieldFault) -> JSONValue? {
        switch field.scalar(value) {
        case .signed(let number): return .number(Double(number))
        case .unsigned(let number): return .number(Double(number))
        case .number(let number):
            guard number.isFinite else { throw FieldFault("must be a finite number.") }
            return .number(number)
        case .flag(let flag): return .bool(flag)
        case .bytes(let range): return .string(try FieldText.string(range, in: bytes))
        case .enumeration(let number):
            guard let word = field.words.first(where: { $0.number == number }) else { throw unknown(number) }
            return word.word.map { .string($0) }
        }
    }

    private static func unknown(_ number: Int32) -> FieldFault {
        FieldFault("has the value \(number), which its enumeration does not have.")
    }

    /// Packed, an element takes a byte of the message but many in memory. No list of ids that a message of the greatest
    /// size can have is longer.
    private static let mostElements = 1 << 22
    /// The same for words. A list needs each only once, and a word takes more memory for its byte of the message than
    /// anything else.
    private static let mostWords = 1 << 16

    private func array(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>,
        _ element: (FieldReader.Value) throws(FieldFault) -> JSONValue
    ) throws(FieldFault) -> JSONValue {
        let most = fields.plan.fields[index].kind == .enumeration ? Self.mostWords : Self.mostElements
        var values: [JSONValue] = []
        try fields.forEach(index, in: bytes) { (value) throws(FieldFault) in
            guard values.count < most else { throw FieldFault("has more than \(most) elements.") }
            do throws(FieldFault) { values.append(try element(value)) } catch { throw error.inside(values.count) }
        }
        return .array(values)
    }

    // MARK: Messages with a form of their own

    /// `[west, south, east, north]`; an edge that is not set is 0.
    private func box(_ plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>) throws(FieldFault) -> JSONValue {
        let fields = try MessageFields(of: plan, in: bytes, range)
        var edges = [JSONValue](repeating: .number(0), count: plan.fields.count)
        for index in plan.fields.indices where fields.has(index) {
            do throws(FieldFault) {
                edges[index] = try Self.element(fields.last(index), of: plan.fields[index], in: bytes) ?? .number(0)
            } catch {
                throw error.inside(index)
            }
        }
        return .array(edges)
    }

    /// `{property: [lower, upper]}`; null without a property.
    private static func window(
        _ plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(FieldFault) -> JSONValue {
        let fields = try MessageFields(of: plan, in: bytes, range)
        func value(_ index: Int) throws(FieldFault) -> JSONValue? {
            guard fields.has(index) else { return nil }
            do throws(FieldFault) { return try element(fields.last(index), of: plan.fields[index], in: bytes) } catch {
                throw error.inside(plan.fields[index].step)
            }
        }
        guard case .string(let property)? = try value(0), !property.isEmpty else { return .null }
        return .object([property: .array([try value(1) ?? .null, try value(2) ?? .null])])
    }

    /// An object of expressions by their names.
    private func named(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>
    ) throws(FieldFault) -> JSONObject {
        try members(index, of: fields, in: bytes) { (entry, bytes) throws(FieldFault) in
            guard case .bytes(let range)? = entry.has(1) ? entry.last(1) : nil else {
                throw FieldFault("is missing: an expression was expected.")
            }
            return try FieldText.withJSON(range, isObject: false, in: bytes, parser) { $0.value }
        }
    }

    /// An object of views by their names. Options that a view does not have are null.
    private func views(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>, depth: Int
    ) throws(FieldFault) -> JSONObject {
        try members(index, of: fields, in: bytes) { (entry, bytes) throws(FieldFault) in
            var options = ParamsReader(parser: parser)
            if entry.has(1) {
                let plan = entry.plan.fields[1].plan
                try entry.withMessage(1, in: bytes) { (bytes, range) throws(FieldFault) in
                    try options.read(plan, in: bytes, range, depth: depth + 2)
                }
            }
            try entry.forEach(2, in: bytes) { (value) throws(FieldFault) in
                guard case .bytes(let range) = value else { return }
                options.object[try FieldText.string(range, in: bytes)] = .null
            }
            return .object(options.object)
        }
    }

    /// A list of messages whose first field is a name.
    private func members(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>,
        _ body: (MessageFields, Span<UInt8>) throws(FieldFault) -> JSONValue
    ) throws(FieldFault) -> JSONObject {
        let plan = fields.plan.fields[index].plan
        var members: [(key: String, value: JSONValue)] = []
        try fields.forEach(index, in: bytes) { (value) throws(FieldFault) in
            guard case .bytes(let range) = value else { return }
            do throws(FieldFault) {
                let entry = try MessageFields(of: plan, in: bytes, range)
                guard entry.has(0), case .bytes(let name) = entry.last(0), !name.isEmpty else {
                    throw FieldFault("has no name.")
                }
                members.append((try FieldText.string(name, in: bytes), try body(entry, bytes)))
            } catch {
                throw error.inside(members.count)
            }
        }
        return JSONObject(members)
    }

    // MARK: Ids and features

    /// An id, or a list of ids. Their text is kept, which has all digits.
    private mutating func identifiers(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>, member: String? = nil
    ) throws(FieldFault) -> JSONValue? {
        let field = fields.plan.fields[index]
        var text = ByteWriter()
        guard field.isRepeated else {
            let value = try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
                try FeatureText.write(identifier: field.plan, in: bytes, range, into: &text)
            }
            if value != .null { texts.append((member ?? field.member, text.bytes)) }
            return value == .null ? nil : value
        }
        text.append("[")
        let values = try array(index, of: fields, in: bytes) { (value) throws(FieldFault) in
            guard case .bytes(let range) = value else { return .null }
            if text.count > 1 { text.append(",") }
            return try FeatureText.write(identifier: field.plan, in: bytes, range, into: &text)
        }
        text.append("]")
        texts.append((member ?? field.member, text.bytes))
        return values
    }

    private static let textBytesPerByte = 8

    /// Features, of which only the text is kept.
    private mutating func features(
        _ index: Int, of fields: MessageFields, in bytes: Span<UInt8>
    ) throws(FieldFault) -> JSONValue {
        let field = fields.plan.fields[index]
        var text = ByteWriter(capacity: 4096)
        // The text of a feature that has something takes no more. One that has nothing takes two bytes of the message.
        text.limitFollowing(to: Self.textBytesPerByte * bytes.count + 4096)
        text.append("[")
        var count = 0
        try fields.forEach(index, in: bytes) { (value) throws(FieldFault) in
            guard case .bytes(let range) = value else { return }
            if count > 0 { text.append(",") }
            do throws(FieldFault) {
                try FeatureText.write(feature: field.plan, in: bytes, range, parser, into: &text)
            } catch {
                throw error.inside(count)
            }
            count += 1
            guard !text.hasOverflowed else { throw FieldFault("has too many features without content.") }
        }
        text.append("]")
        texts.append((field.member, text.bytes))
        return .array([])
    }
}
