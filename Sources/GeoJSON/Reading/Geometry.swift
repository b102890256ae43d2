// SPDX-License-Identifier: MIT
import JSON

/// A GeoJSON geometry (RFC 7946, section 3.1) on a tape.
struct Geometry {
    private let element: JSONElement
    private var type: JSONElement?
    private var coordinates: JSONElement?
    private var hasForeign = false

    /// The points that a geometry becomes.
    enum Rows {
        case fault(FeatureFault)
        /// The sent position, and further members, each after a comma.
        case point(SentPosition, foreign: [UInt8])
        case points([SentPosition], foreign: [UInt8])
        /// A computed point.
        case placed(GeometryPosition, foreign: [UInt8])
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
        "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon",
        "GeometryCollection",
    ]

    /// The coordinates of a valid point without further members; nil for anything else.
    @inline(__always) func validPoint(_ rules: FeatureRules) -> (UnsafeRawBufferPointer, GeometryPosition)? {
        guard !hasForeign, let type, type.isString("Point"), let coordinates,
            let position = Self.position(coordinates),
            rules.fault(longitude: position.longitude, latitude: position.latitude) == nil
        else { return nil }
        return (coordinates.rawText, position)
    }

    func rows(_ rules: FeatureRules, _ advice: inout ImportAdvice) -> Rows {
        guard let type, type.isString("Point") else { return otherRows(rules, &advice) }
        guard let coordinates else { return .fault(.badCoordinates) }
        do throws(Fault) {
            let position = try Self.sentPosition(coordinates, rules, &advice)
            return .point(position, foreign: hasForeign ? foreignMembers : [])
        } catch {
            return .fault(error.fault)
        }
    }

    private struct Fault: Error { let fault: FeatureFault }

    /// A position within bounds, after wrapping if necessary.
    private static func sentPosition(
        _ coordinates: JSONElement, _ rules: FeatureRules, _ advice: inout ImportAdvice
    ) throws(Fault) -> SentPosition {
        guard let position = position(coordinates) else { throw Fault(fault: .badCoordinates) }
        let sent = SentPosition(text: coordinates.rawText, position: position, isWrapped: false)
        guard let fault = rules.fault(longitude: position.longitude, latitude: position.latitude) else {
            return sent
        }
        guard rules.canWrap(position, after: fault) else {
            advice.note(position)
            throw Fault(fault: fault)
        }
        return sent.wrapped
    }

    /// Two or more finite numbers.
    @inline(__always) private static func position(_ coordinates: JSONElement) -> GeometryPosition? {
        guard coordinates.count >= 2 else { return nil }
        var position = GeometryPosition(longitude: 0, latitude: 0)
        var place = 0
        for element in coordinates.elements {
            guard let number = element.number else { return nil }
            if place == 0 { position.longitude = number }
            if place == 1 { position.latitude = number }
            place += 1
        }
        return place >= 2 ? position : nil
    }

    // MARK: Other geometries

    private func otherRows(_ rules: FeatureRules, _ advice: inout ImportAdvice) -> Rows {
        guard let type, let shape = Self.shapes.first(where: { type.isString($0) }) else {
            return .fault(.notAPoint)
        }
        guard rules.geometries != .point else { return .fault(.notAPoint) }
        if "\(shape)" == "MultiPoint" { return positions(rules, &advice) }
        guard rules.geometries != .multipoint else { return .fault(.notAPoint) }
        var parts = GeometryParts()
        var reader = GeometryReader(rules: rules)
        if let fault = reader.read(element, into: &parts) {
            if let position = reader.outside { advice.note(position) }
            return .fault(fault)
        }
        guard let position = parts.position(rules.geometries) else { return .fault(.badGeometry) }
        return .placed(rules.wrapsLongitudes ? position.wrapped : position, foreign: foreignMembers)
    }

    private func positions(_ rules: FeatureRules, _ advice: inout ImportAdvice) -> Rows {
        guard let coordinates, coordinates.count > 0 else { return .fault(.badCoordinates) }
        var positions: [SentPosition] = []
        positions.reserveCapacity(coordinates.count)
        do throws(Fault) {
            for element in coordinates.elements {
                positions.append(try Self.sentPosition(element, rules, &advice))
            }
        } catch {
            return .fault(error.fault)
        }
        return positions.isEmpty ? .fault(.badCoordinates) : .points(positions, foreign: foreignMembers)
    }

    /// Foreign members, each after a comma. A `bbox` is omitted, since it is that of the geometry and not of
    /// its point.
    private var foreignMembers: [UInt8] {
        guard hasForeign, let type else { return [] }
        var members: [UInt8] = []
        for (key, value) in element.members {
            if key.isString("type") || key.isString("coordinates") { continue }
            if !type.isString("Point"), key.isString("geometries") || key.isString("bbox") { continue }
            members.append(UInt8(ascii: ","))
            members.append(contentsOf: key.rawText)
            members.append(UInt8(ascii: ":"))
            members.append(contentsOf: value.rawText)
        }
        return members
    }
}
