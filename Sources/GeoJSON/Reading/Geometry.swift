// SPDX-License-Identifier: MIT
import JSON

/// A GeoJSON geometry (RFC 7946, section 3.1) on a tape.
struct Geometry {
    private let element: JSONElement
    private var type: JSONElement?
    private var coordinates: JSONElement?
    private var hasForeign = false

    /// The points that a geometry becomes. Further members follow, each after a comma.
    enum Rows {
        case sent([SentPosition], foreign: [UInt8])
        case computed(GeometryPosition, foreign: [UInt8])
    }

    init(_ element: JSONElement) {
        self.element = element
        for (key, value) in element.members {
            if key.isString("type") {
                type = value
            } else if key.isString("coordinates") {
                coordinates = value
            } else {
                hasForeign = true
            }
        }
    }

    /// Whether an object is a geometry where a Feature was expected.
    static func isBare(_ object: JSONElement, type: JSONElement?) -> Bool {
        guard let type, object["coordinates"] != nil || object["geometries"] != nil else { return false }
        return shapes.contains { type.isString($0) }
    }

    private static let shapes: [StaticString] = [
        "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection",
    ]

    /// The coordinates of a valid point without further members; nil for anything else.
    @inline(__always) func validPoint(_ rules: FeatureRules) -> (UnsafeRawBufferPointer, GeometryPosition)? {
        guard !hasForeign, let type, type.isString("Point"), let coordinates,
            let position = Self.position(coordinates),
            rules.fault(longitude: position.longitude, latitude: position.latitude) == nil
        else { return nil }
        return (coordinates.rawText, position)
    }

    func rows(_ rules: FeatureRules, _ advice: inout ImportAdvice) throws(FeatureFault) -> Rows {
        guard let type, Self.shapes.contains(where: { type.isString($0) }) else { throw .notAPoint }
        if type.isString("Point") {
            guard let coordinates else { throw .badCoordinates }
            return .sent([try Self.sentPosition(coordinates, rules, &advice)], foreign: foreignMembers)
        }
        guard rules.geometries != .point else { throw .notAPoint }
        if type.isString("MultiPoint") {
            guard let coordinates else { throw .badCoordinates }
            var positions: [SentPosition] = []
            positions.reserveCapacity(coordinates.count)
            for element in try Self.elements(coordinates) {
                positions.append(try Self.sentPosition(element, rules, &advice))
            }
            return .sent(positions, foreign: foreignMembers)
        }
        guard rules.geometries != .multipoint else { throw .notAPoint }
        var parts = GeometryParts()
        try Self.add(element, to: &parts, rules, &advice)
        guard let position = parts.position(rules.geometries) else { throw .badGeometry }
        return .computed(rules.wrapsLongitudes ? position.wrapped : position, foreign: foreignMembers)
    }

    private static func sentPosition(
        _ coordinates: JSONElement, _ rules: FeatureRules, _ advice: inout ImportAdvice
    ) throws(FeatureFault) -> SentPosition {
        let (position, isOutside) = try allowed(coordinates, rules, &advice)
        let sent = SentPosition(text: coordinates.rawText, position: position, isWrapped: false)
        return isOutside ? sent.wrapped : sent
    }

    /// A position within bounds, or outside of them until its longitude is wrapped.
    private static func allowed(
        _ coordinates: JSONElement, _ rules: FeatureRules, _ advice: inout ImportAdvice
    ) throws(FeatureFault) -> (GeometryPosition, isOutside: Bool) {
        guard let position = position(coordinates) else { throw .badCoordinates }
        guard let fault = rules.fault(longitude: position.longitude, latitude: position.latitude) else {
            return (position, false)
        }
        guard rules.canWrap(position, after: fault) else {
            advice.note(position)
            throw fault
        }
        return (position, true)
    }

    /// Two or more finite numbers.
    @inline(__always) private static func position(_ coordinates: JSONElement) -> GeometryPosition? {
        guard coordinates.count >= 2 else { return nil }
        var position = GeometryPosition(longitude: 0, latitude: 0)
        var count = 0
        for element in coordinates.elements {
            guard let number = element.number else { return nil }
            if count == 0 { position.longitude = number }
            if count == 1 { position.latitude = number }
            count += 1
        }
        return count >= 2 ? position : nil
    }

    // MARK: Lines, areas and collections

    /// Adds a geometry's parts.
    private static func add(
        _ geometry: JSONElement, to parts: inout GeometryParts, _ rules: FeatureRules, _ advice: inout ImportAdvice
    ) throws(FeatureFault) {
        guard let type = geometry["type"] else { throw .badGeometry }
        if type.isString("GeometryCollection") {
            guard let members = geometry["geometries"], members.count > 0 else { throw .badGeometry }
            for member in members.elements { try add(member, to: &parts, rules, &advice) }
            return
        }
        guard let coordinates = geometry["coordinates"] else { throw .badCoordinates }
        func positions(_ array: JSONElement, atLeast least: Int) throws(FeatureFault) -> [GeometryPosition] {
            var positions: [GeometryPosition] = []
            positions.reserveCapacity(array.count)
            for element in try elements(array) { positions.append(try allowed(element, rules, &advice).0) }
            guard positions.count >= least else { throw .badGeometry }
            return positions
        }
        func area(_ rings: JSONElement) throws(FeatureFault) -> [[GeometryPosition]] {
            var area: [[GeometryPosition]] = []
            for ring in try elements(rings) {
                let ring = try positions(ring, atLeast: 4)
                guard ring.first == ring.last else { throw .badGeometry }
                area.append(ring)
            }
            return area
        }
        if type.isString("Point") {
            parts.points.append(try allowed(coordinates, rules, &advice).0)
        } else if type.isString("MultiPoint") {
            parts.points += try positions(coordinates, atLeast: 1)
        } else if type.isString("LineString") {
            parts.lines.append(try positions(coordinates, atLeast: 2))
        } else if type.isString("MultiLineString") {
            for line in try elements(coordinates) { parts.lines.append(try positions(line, atLeast: 2)) }
        } else if type.isString("Polygon") {
            parts.areas.append(try area(coordinates))
        } else if type.isString("MultiPolygon") {
            for polygon in try elements(coordinates) { parts.areas.append(try area(polygon)) }
        } else {
            throw .badGeometry
        }
    }

    private static func elements(_ array: JSONElement) throws(FeatureFault) -> JSONElement.Elements {
        guard array.kind == .array, array.count > 0 else { throw .badCoordinates }
        return array.elements
    }

    /// Foreign members, each after a comma. A `bbox` is omitted, since it is that of the geometry and not of its point.
    private var foreignMembers: [UInt8] {
        guard hasForeign, let type else { return [] }
        var members: [UInt8] = []
        for (key, value) in element.members {
            if key.isString("type") || key.isString("coordinates") { continue }
            if !type.isString("Point"), key.isString("geometries") || key.isString("bbox") { continue }
            members.append(member: key, value)
        }
        return members
    }
}

/// A position with its text as sent. Valid as long as the text.
struct SentPosition {
    /// An array of two or more finite numbers.
    let text: UnsafeRawBufferPointer
    let position: GeometryPosition
    /// Whether the longitude was wrapped, so that the text contains a different one.
    let isWrapped: Bool

    /// The position with its longitude wrapped to ±180 degrees.
    var wrapped: SentPosition { SentPosition(text: text, position: position.wrapped, isWrapped: true) }

    /// The text to be stored, with the wrapped longitude. The rest stays as sent.
    func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard isWrapped, let comma = text.firstIndex(of: UInt8(ascii: ",")) else { return body(text) }
        var bytes = ByteWriter()
        bytes.append("[")
        bytes.append(number: position.longitude)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[comma...]))
        return bytes.withUnsafeBytes(body)
    }
}

extension [UInt8] {
    /// Appends an object's member after a comma.
    mutating func append(member key: JSONElement, _ value: JSONElement) {
        append(UInt8(ascii: ","))
        append(contentsOf: key.rawText)
        append(UInt8(ascii: ":"))
        append(contentsOf: value.rawText)
    }
}
