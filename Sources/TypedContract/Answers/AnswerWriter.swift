// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf
import TypedFeatures

/// Writes JSON answers as messages.
struct AnswerWriter {
    let structProperties: Bool

    /// Writes the fields of a message that stands for an object.
    func write(_ plan: MessagePlan, _ object: JSONElement, into bytes: inout ByteWriter) {
        switch plan.shortName {
        case "GetConvexHullResponse": return writeHull(plan, object, into: &bytes)
        case "GetStatsResponse": return writeStatistics(plan, object, into: &bytes)
        case "GetGridResponse": return writeGrid(plan, object, into: &bytes)
        default: writeFields(plan, object, into: &bytes)
        }
    }

    private func writeFields(_ plan: MessagePlan, _ object: JSONElement, into bytes: inout ByteWriter) {
        for field in plan.fields {
            if case .flattened = field.shape {
                let start = bytes.beginField(field.number)
                write(field.plan, object, into: &bytes)
                bytes.endField(start)
            } else if let value = object.member(field.memberBytes), value.kind != .null || field.takesNull {
                write(field, value, into: &bytes)
            }
        }
    }

    /// Writes a field whose value is not null. A value that the field cannot have is left out.
    func write(_ field: FieldPlan, _ value: JSONElement, into bytes: inout ByteWriter) {
        switch field.shape {
        case .map: writeMap(field, value, prefix: "", into: &bytes)
        case .named, .views: writeNamed(field, value, into: &bytes)
        case .scalar where field.isRepeated: writeList(field, value, into: &bytes)
        default:
            guard field.isRepeated else { return writeSingle(field, value, into: &bytes) }
            for element in value.elements { writeSingle(field, element, into: &bytes) }
        }
    }

    private func writeSingle(_ field: FieldPlan, _ value: JSONElement, into bytes: inout ByteWriter) {
        switch field.shape {
        case .scalar: write(scalar: field, value, keepsZero: field.hasPresence, into: &bytes)
        case .json:
            // A field for numbers beside it has those.
            guard value.kind != .number || field.siblings.isEmpty else { return }
            bytes.append(field: field.number, bytes: value.rawText)
        case .featureID: bytes.append(field: field.number, featureID: value.rawText)
        case .structure: bytes.append(field: field.number, structure: value.rawText)
        case .planar: if let box = value["planar"] { writeNumbers(field, box, into: &bytes) }
        case .box, .position: writeNumbers(field, value, into: &bytes)
        case .hull:
            let start = bytes.beginField(field.number)
            bytes.append(field: TypedFields.Hull.coordinates, packed: value["coordinates"]?.numbers ?? [])
            bytes.endField(start)
        case .feature, .tileFeature, .removedMarker:
            let start = bytes.beginField(field.number)
            let features = FeatureAnswer(structProperties: structProperties)
            switch field.shape {
            case .tileFeature: features.write(tileFeature: value, into: &bytes)
            case .removedMarker: features.write(removed: value, into: &bytes)
            default: features.write(feature: value, into: &bytes)
            }
            bytes.endField(start)
        case .message:
            guard value.kind == .object else { return }
            let start = bytes.beginField(field.number)
            write(field.plan, value, into: &bytes)
            bytes.endField(start)
        case .flattened, .list, .window, .newFeatures, .format, .named, .views, .map: break
        }
    }

    /// Writes a message whose fields are numbers, from an array of them.
    private func writeNumbers(_ field: FieldPlan, _ array: JSONElement, into bytes: inout ByteWriter) {
        guard array.kind == .array else { return }
        let start = bytes.beginField(field.number)
        for (part, number) in zip(field.plan.fields, array.numbers) {
            bytes.append(field: part.number, nonZero: number)
        }
        bytes.endField(start)
    }

    // MARK: Scalars

    private func write(
        scalar field: FieldPlan, _ value: JSONElement, keepsZero: Bool, into bytes: inout ByteWriter
    ) {
        switch (field.kind, value.kind) {
        case (.string, .string): bytes.append(field: field.number, string: value, keepsEmpty: keepsZero)
        case (.bytes, .string):
            guard let content = value.string.flatMap({ Base64.decode(Array($0.utf8).span) }) else { return }
            guard keepsZero || !content.isEmpty else { return }
            bytes.append(field: field.number, bytes: content.span)
        case (.enumeration, .string):
            guard let word = field.words.first(where: { $0.word == value.string }) else { return }
            bytes.append(field: field.number, varint: UInt64(bitPattern: Int64(word.number)))
        case (.bool, .bool):
            let flag = value.bool ?? false
            if flag || keepsZero { bytes.append(field: field.number, varint: flag ? 1 : 0) }
        case (.double, .number):
            let number = value.number ?? 0
            if number.bitPattern != 0 || keepsZero { bytes.append(field: field.number, double: number) }
        case (.string, _), (.bytes, _), (.enumeration, _), (.bool, _), (.double, _): break
        case (_, .number):
            let bits = field.bits(of: value)
            if bits != 0 || keepsZero { bytes.append(field: field.number, varint: bits) }
        default: break
        }
    }

    /// Writes an array of scalars, numbers packed.
    private func writeList(_ field: FieldPlan, _ array: JSONElement, into bytes: inout ByteWriter) {
        guard field.layout != .lengthDelimited else {
            for element in array.elements { write(scalar: field, element, keepsZero: true, into: &bytes) }
            return
        }
        if field.kind == .double { return bytes.append(field: field.number, packed: array.numbers) }
        guard array.count > 0 else { return }
        let start = bytes.beginField(field.number)
        for element in array.elements { bytes.append(varint: field.bits(of: element)) }
        bytes.endField(start)
    }

    // MARK: Objects whose keys are data

    /// Writes the members of an object as a map. Objects in it are flattened: `http.maxHeadBytes`.
    private func writeMap(
        _ field: FieldPlan, _ object: JSONElement, prefix: String, into bytes: inout ByteWriter
    ) {
        let entry = field.plan.fields
        guard entry.count == 2 else { return }
        for (key, value) in object.members {
            let name = prefix + (key.string ?? "")
            if value.kind == .object {
                writeMap(field, value, prefix: name + ".", into: &bytes)
                continue
            }
            let start = bytes.beginField(field.number)
            if !name.isEmpty { bytes.append(field: entry[0].number, text: name) }
            write(scalar: entry[1], value, keepsZero: false, into: &bytes)
            bytes.endField(start)
        }
    }

    /// Writes the members of an object as messages whose first field is the name: expressions or views.
    private func writeNamed(_ field: FieldPlan, _ object: JSONElement, into bytes: inout ByteWriter) {
        let parts = field.plan.fields
        for (key, value) in object.members {
            let start = bytes.beginField(field.number)
            bytes.append(field: parts[0].number, string: key, keepsEmpty: false)
            if case .views = field.shape {
                let options = bytes.beginField(parts[1].number)
                write(parts[1].plan, value, into: &bytes)
                bytes.endField(options)
                for (name, option) in value.members where option.kind == .null {
                    bytes.append(field: parts[2].number, string: name, keepsEmpty: true)
                }
            } else {
                bytes.append(field: parts[1].number, bytes: value.rawText)
            }
            bytes.endField(start)
        }
    }

    // MARK: Answers with a form of their own

    /// The hull is a GeoJSON feature in JSON.
    private func writeHull(_ plan: MessagePlan, _ feature: JSONElement, into bytes: inout ByteWriter) {
        for field in plan.fields {
            let name = field.name
            let value: JSONElement? =
                switch name {
                case "hull": feature["geometry"]
                case "cluster_id", "point_count": feature["properties"]?.member(Array(name.utf8))
                default: feature.member(field.memberBytes)
                }
            if let value, value.kind != .null { write(field, value, into: &bytes) }
        }
    }

    /// The statistics are the object itself, or an object with only a text.
    private func writeStatistics(_ plan: MessagePlan, _ object: JSONElement, into bytes: inout ByteWriter) {
        for field in plan.fields {
            let text = object.count == 1 ? object["text"] : nil
            if field.name == "prometheus", let text {
                bytes.append(field: field.number, string: text, keepsEmpty: true)
            } else if field.name == "stats_json", text == nil {
                bytes.append(field: field.number, bytes: object.rawText)
            }
        }
    }

    /// The cells are an array of objects in JSON, and columns here.
    private func writeGrid(_ plan: MessagePlan, _ object: JSONElement, into bytes: inout ByteWriter) {
        let columns = ["x": "x", "y": "y", "point_counts": "point_count"]
        let cells = object["cells"]
        for field in plan.fields {
            if let column = columns[field.name] {
                guard let cells, cells.count > 0 else { continue }
                let name = Array(column.utf8)
                let start = bytes.beginField(field.number)
                for cell in cells.elements { bytes.append(varint: cell.member(name).map(field.bits) ?? 0) }
                bytes.endField(start)
            } else if let value = object.member(field.memberBytes), value.kind != .null {
                write(field, value, into: &bytes)
            }
        }
    }
}

extension FieldPlan {
    /// Whether null is a value and not none: for the text of any value.
    fileprivate var takesNull: Bool { if case .json = shape { !hasPresence } else { false } }

    /// A number as a varint of its kind; a fraction is cut off.
    func bits(of element: JSONElement) -> UInt64 {
        let number: UInt64
        if let integer = element.integer {
            number = UInt64(bitPattern: integer)
        } else if case .unsigned(let integer)? = IntegerText(element.rawText) {
            number = integer
        } else {
            let value = element.number ?? 0
            number =
                value < 0 ? UInt64(bitPattern: Int64(max(value, -0x1p63))) : UInt64(min(value, 0x1.fffffffffffffp63))
        }
        return kind == .sint32 || kind == .sint64 ? WireFormat.zigZag(Int64(bitPattern: number)) : number
    }
}

extension JSONElement {
    /// The value of a key that is known only at run time, the last one if keys are equal. O(members).
    func member(_ key: [UInt8]) -> JSONElement? {
        var found: JSONElement?
        for (name, value) in members where name.isString(key) { found = value }
        return found
    }

    /// All numbers of an array and of the arrays in it, in order.
    var numbers: [Double] {
        if let number { return [number] }
        return elements.flatMap(\.numbers)
    }
}

extension ByteWriter {
    /// Appends a field of text.
    mutating func append(field number: Int, string: JSONElement, keepsEmpty: Bool) {
        guard string.kind == .string, keepsEmpty || string.rawText.count > 2 else { return }
        append(field: number, string: string.rawText)
    }
}
