// SPDX-License-Identifier: MIT
import JSON

/// Reads the positions of lines, areas and collections from a tape.
struct GeometryReader {
    let rules: FeatureRules
    /// The first position that is not within bounds.
    private(set) var outside: GeometryPosition?

    init(rules: FeatureRules) { self.rules = rules }

    /// Adds a geometry's parts, or returns its fault.
    mutating func read(_ geometry: JSONElement, into parts: inout GeometryParts) -> FeatureFault? {
        guard let type = geometry["type"] else { return .badGeometry }
        if type.isString("GeometryCollection") {
            guard let members = geometry["geometries"], members.count > 0 else { return .badGeometry }
            for member in members.elements {
                if let fault = read(member, into: &parts) { return fault }
            }
            return nil
        }
        guard let coordinates = geometry["coordinates"] else { return .badCoordinates }
        do throws(Fault) {
            if type.isString("Point") {
                parts.points.append(try position(coordinates))
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
                return .badGeometry
            }
            return nil
        } catch {
            return error.fault
        }
    }

    private struct Fault: Error { let fault: FeatureFault }

    private func elements(_ array: JSONElement) throws(Fault) -> JSONElement.Elements {
        guard array.kind == .array, array.count > 0 else { throw Fault(fault: .badCoordinates) }
        return array.elements
    }

    private mutating func area(_ rings: JSONElement) throws(Fault) -> [[GeometryPosition]] {
        var area: [[GeometryPosition]] = []
        for ring in try elements(rings) {
            let ring = try positions(ring, atLeast: 4)
            guard ring.first == ring.last else { throw Fault(fault: .badGeometry) }
            area.append(ring)
        }
        return area
    }

    private mutating func positions(_ array: JSONElement, atLeast least: Int) throws(Fault)
        -> [GeometryPosition]
    {
        var positions: [GeometryPosition] = []
        positions.reserveCapacity(array.count)
        for element in try elements(array) { positions.append(try position(element)) }
        guard positions.count >= least else { throw Fault(fault: .badGeometry) }
        return positions
    }

    private mutating func position(_ coordinates: JSONElement) throws(Fault) -> GeometryPosition {
        guard coordinates.kind == .array, coordinates.count >= 2 else { throw Fault(fault: .badCoordinates) }
        var numbers = (0.0, 0.0)
        for (place, element) in coordinates.elements.enumerated() {
            guard let number = element.number else { throw Fault(fault: .badCoordinates) }
            if place == 0 { numbers.0 = number }
            if place == 1 { numbers.1 = number }
        }
        let position = GeometryPosition(longitude: numbers.0, latitude: numbers.1)
        if let fault = rules.fault(longitude: numbers.0, latitude: numbers.1),
            !rules.canWrap(position, after: fault)
        {
            outside = position
            throw Fault(fault: fault)
        }
        return position
    }
}
