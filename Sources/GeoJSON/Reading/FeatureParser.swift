// SPDX-License-Identifier: MIT
import JSON

/// Parses features from JSON text (RFC 7946, section 3.2). Used by one thread at a time.
final class FeatureParser {
    private let parser = JSONParser()
    private let rules: FeatureRules
    private let promoteId: [UInt8]?
    /// The current feature's foreign members.
    private var rest: [UInt8] = []

    private let maximumDepth: Int

    /// - Parameter maximumDepth: how deeply a feature's arrays and objects may nest.
    init(rules: FeatureRules, maximumDepth: Int = JSONReader.maximumDepth) {
        self.rules = rules
        self.maximumDepth = maximumDepth
        promoteId = rules.promoteId.map { Array($0.utf8) }
    }

    /// Adds the features of an array's text, or of a text of one feature.
    func parse(_ text: UnsafeRawBufferPointer, into result: ParsedFeatures) throws(JSONError) {
        try withRoot(of: text, maximumDepth: maximumDepth) { (root) throws(JSONError) in
            if root.kind == .array {
                for feature in root.elements { add(feature, result) }
            } else {
                add(root, result)
            }
        }
    }

    /// Adds the features of an array whose elements are these parts of its text. Throws if the elements
    /// differ: texts that are not JSON may form JSON when joined.
    func parse(
        _ text: UnsafeRawBufferPointer, into result: ParsedFeatures, expecting texts: [Range<Int>]
    ) throws(JSONError) {
        // The array adds one level to its elements' depth.
        try withRoot(of: text, maximumDepth: maximumDepth + 1) { (root) throws(JSONError) in
            let isExpected =
                root.count == texts.count && zip(root.elements, texts).allSatisfy { $0.rawRange == $1 }
            guard isExpected else {
                throw JSONError(kind: .syntax, offset: 0, message: "A text is not JSON.")
            }
            for feature in root.elements { add(feature, result) }
        }
    }

    /// Adds the feature of a text that begins at an offset of the piece.
    func parse(single text: UnsafeRawBufferPointer, at offset: Int, into result: ParsedFeatures) throws(JSONError) {
        try withRoot(of: text, maximumDepth: maximumDepth) { (root) throws(JSONError) in
            add(root, result, offset: offset)
        }
    }

    private func withRoot(
        of text: UnsafeRawBufferPointer, maximumDepth: Int, _ body: (JSONElement) throws(JSONError) -> Void
    ) throws(JSONError) {
        do {
            try parser.withTape(of: text, maximumDepth: maximumDepth, allowsLoneSurrogates: true) {
                (tape) throws(JSONError) in try body(tape.root)
            }
        } catch {
            switch error {
            case .json(let error), .body(let error): throw error
            }
        }
    }

    /// A feature's members. Of equal names the last one is used.
    private struct Members {
        var type: JSONElement?
        var identifier: JSONElement?
        var geometry: JSONElement?
        var properties: JSONElement?
        var hasRest = false
    }

    /// - Parameter offset: where the parsed text begins in the piece.
    private func add(_ feature: JSONElement, _ result: ParsedFeatures, offset: Int = 0) {
        var members = Members()
        for (key, value) in feature.members {
            if key.isString("type") {
                members.type = value
            } else if key.isString("id") {
                members.identifier = value
            } else if key.isString("geometry") {
                members.geometry = value
            } else if key.isString("properties") {
                members.properties = value
            } else {
                members.hasRest = true
            }
        }
        let range = feature.rawRange.lowerBound + offset..<feature.rawRange.upperBound + offset
        do throws(FeatureFault) {
            if rules.refused != nil { throw .badWeight }
            try read(feature, members, result)
            if result.keepsRanges { result.ranges.append(range) }
            result.seen += 1
        } catch {
            result.addFault(error, identifier: Self.text(of: members.identifier), range: range)
        }
    }

    /// A feature's id as JSON text.
    private static func text(of identifier: JSONElement?) -> String? {
        guard let identifier, identifier.kind == .number || identifier.kind == .string,
            identifier.loneSurrogates == 0
        else { return nil }
        return String(decoding: identifier.rawText, as: UTF8.self)
    }

    /// Appends the feature's rows, or appends nothing and throws its fault.
    private func read(_ feature: JSONElement, _ members: Members, _ result: ParsedFeatures) throws(FeatureFault) {
        guard let type = members.type, type.isString("Feature") else {
            throw Geometry.isBare(feature, type: members.type) ? .bareGeometry : .notAFeature
        }
        if feature.loneSurrogates > 0 { throw .loneSurrogate }
        if let identifier = members.identifier, identifier.kind != .number, identifier.kind != .string {
            throw .badIdentifier
        }
        guard let properties = members.properties, properties.kind == .object || properties.kind == .null
        else { throw .badProperties }
        guard let element = members.geometry, element.kind != .null else { throw .noGeometry }
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let sent = members.identifier?.rawText ?? empty
        rest.removeAll(keepingCapacity: true)
        if members.hasRest { gatherRest(of: feature) }
        guard let promoteId else {
            return try append(element, Row(identifier: sent, properties: properties, rest: rest), result)
        }
        let promoted = Self.promoted(promoteId, properties)
        if promoted != nil { result.advice.promoted += 1 }
        let field = FeatureRecord.identifier(promoted: promoted?.rawText ?? empty, sent: sent)
        try field.span.bytes.withUnsafeBytes { (field) throws(FeatureFault) in
            try append(element, Row(identifier: field, properties: properties, rest: rest), result)
        }
    }

    /// Appends the rows of a geometry, or appends nothing and throws its fault.
    private func append(_ element: JSONElement, _ row: Row, _ result: ParsedFeatures) throws(FeatureFault) {
        let geometry = Geometry(element)
        // Most features are simple points.
        if let (coordinates, position) = geometry.validPoint(rules) {
            return row.append(coordinates, [], position, to: result)
        }
        switch try geometry.rows(rules, &result.advice) {
        case .sent(let positions, let foreign):
            let size = positions.count * (row.size + 24 + foreign.count)
            guard positions.count == 1 || result.blob.count + size <= ParsedFeatures.largestBlob else {
                throw .tooLarge
            }
            if positions.count > 1 { result.groups.append((result.ends.count, positions.count - 1)) }
            for sent in positions {
                sent.withText { row.append($0, foreign, sent.position, to: result) }
            }
        case .computed(let position, let foreign):
            var text = ByteWriter()
            text.append("[")
            text.append(number: position.longitude)
            text.append(",")
            text.append(number: position.latitude)
            text.append("]")
            text.withUnsafeBytes { row.append($0, foreign, position, to: result) }
        }
    }

    /// The promoted property, if it is a number or a string.
    private static func promoted(_ name: [UInt8], _ properties: JSONElement) -> JSONElement? {
        var found: JSONElement?
        for (key, value) in properties.members where key.isString(name) { found = value }
        return found.flatMap { $0.kind == .number || $0.kind == .string ? $0 : nil }
    }

    private func gatherRest(of feature: JSONElement) {
        for (key, value) in feature.members
        where !key.isString("type") && !key.isString("id") && !key.isString("geometry") && !key.isString("properties") {
            rest.append(member: key, value)
        }
    }

    /// The content that all rows of one feature share.
    private struct Row {
        let identifier: UnsafeRawBufferPointer
        let properties: JSONElement
        let rest: [UInt8]

        var size: Int { identifier.count + properties.rawText.count + rest.count }

        @inline(__always) func append(
            _ coordinates: UnsafeRawBufferPointer, _ foreign: [UInt8], _ position: GeometryPosition,
            to result: ParsedFeatures
        ) {
            guard !result.keepsRanges else {
                return result.noteRow(longitude: position.longitude, latitude: position.latitude)
            }
            let blob = result.blob
            blob.append(length: identifier.count)
            blob.append(length: coordinates.count + foreign.count)
            blob.append(length: rest.count)
            blob.append(identifier)
            blob.append(coordinates)
            if !foreign.isEmpty { foreign.withUnsafeBytes { blob.append($0) } }
            if !rest.isEmpty { rest.withUnsafeBytes { blob.append($0) } }
            blob.append(properties.rawText)
            result.endRow(longitude: position.longitude, latitude: position.latitude)
        }
    }
}
