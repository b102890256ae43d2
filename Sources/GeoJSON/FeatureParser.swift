// SPDX-License-Identifier: MIT
import JSON

/// Features read from one text: records in a blob, and what was wrong with the others. Made by one thread,
/// taken over by another.
final class ParsedFeatures {
    let blob = FeatureBlob(capacity: 1 << 16)
    /// Where each good feature's record ends.
    var ends: [Int] = []
    var longitudes: [Double] = []
    var latitudes: [Double] = []
    /// Bad features by their place in the text, ascending.
    var faults: [(place: Int, fault: FeatureFault)] = []
    /// Good and bad together.
    var seen = 0
    /// Told the good features' properties.
    let piece: (any PropertyPiece)?

    init(piece: (any PropertyPiece)? = nil) { self.piece = piece }

    func removeAll() {
        piece?.removeAll()
        blob.removeAll()
        ends.removeAll(keepingCapacity: true)
        longitudes.removeAll(keepingCapacity: true)
        latitudes.removeAll(keepingCapacity: true)
        faults.removeAll(keepingCapacity: true)
        seen = 0
    }
}

/// Takes features out of JSON text (RFC 7946, section 3.2). Used by one thread at a time.
final class FeatureParser {
    private let parser = JSONParser()
    private let promoteId: [UInt8]?

    init(promoteId: String?) { self.promoteId = promoteId.map { Array($0.utf8) } }

    /// Adds the features of an array's text, or the one feature that the text is.
    func parse(_ text: UnsafeRawBufferPointer, into result: ParsedFeatures) throws(JSONError) {
        do {
            try parser.withTape(of: text) { tape in
                if tape.root.kind == .array {
                    for feature in tape.root.elements { add(feature, result) }
                } else {
                    add(tape.root, result)
                }
            }
        } catch {
            if case .json(let error) = error { throw error }
        }
    }

    /// A feature's members as they are met; of equal names the last counts.
    private struct Members {
        var isFeature = false
        var identifier: JSONElement?
        var geometry: JSONElement?
        var properties: JSONElement?
        var hasRest = false
    }

    private func add(_ feature: JSONElement, _ result: ParsedFeatures) {
        let place = result.seen
        result.seen += 1
        if let fault = read(feature, result) { result.faults.append((place, fault)) }
    }

    /// Appends the feature's record; or appends nothing and tells what is wrong.
    private func read(_ feature: JSONElement, _ result: ParsedFeatures) -> FeatureFault? {
        var members = Members()
        for (key, value) in feature.members {
            if key.isString("type") {
                members.isFeature = value.isString("Feature")
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
        guard members.isFeature else { return .notAFeature }
        if let identifier = members.identifier, identifier.kind != .number, identifier.kind != .string {
            return .badIdentifier
        }
        guard let properties = members.properties, properties.kind == .object || properties.kind == .null
        else {
            return .badProperties
        }
        guard let geometry = members.geometry, geometry.kind != .null else { return .noGeometry }
        let coordinates: JSONElement
        let position: (longitude: Double, latitude: Double)
        switch Self.point(geometry) {
        case .success(let point): (coordinates, position) = point
        case .failure(let fault): return fault.fault
        }
        let identifier = promoteId.map { promoted($0, properties) } ?? members.identifier
        append(feature, members, identifier, coordinates, properties, result.blob)
        result.ends.append(result.blob.count)
        result.longitudes.append(position.longitude)
        result.latitudes.append(position.latitude)
        result.piece?.add(properties)
        return nil
    }

    private struct Fault: Error { let fault: FeatureFault }

    private static func point(
        _ geometry: JSONElement
    ) -> Result<(JSONElement, (longitude: Double, latitude: Double)), Fault> {
        var isPoint = false
        var coordinates: JSONElement?
        for (key, value) in geometry.members {
            if key.isString("type") {
                isPoint = value.isString("Point")
            } else if key.isString("coordinates") {
                coordinates = value
            }
        }
        guard isPoint else { return .failure(Fault(fault: .notAPoint)) }
        guard let coordinates, coordinates.count >= 2 else { return .failure(Fault(fault: .badCoordinates)) }
        var numbers = (0.0, 0.0)
        var place = 0
        for element in coordinates.elements {
            guard let number = element.number else { return .failure(Fault(fault: .badCoordinates)) }
            if place == 0 { numbers.0 = number }
            if place == 1 { numbers.1 = number }
            place += 1
        }
        guard place >= 2 else { return .failure(Fault(fault: .badCoordinates)) }
        guard abs(numbers.0) <= 180 else { return .failure(Fault(fault: .longitudeOutOfRange)) }
        guard abs(numbers.1) <= 90 else { return .failure(Fault(fault: .latitudeOutOfRange)) }
        return .success((coordinates, numbers))
    }

    /// The property that is to be the id, where it is a number or a string.
    private func promoted(_ name: [UInt8], _ properties: JSONElement) -> JSONElement? {
        var found: JSONElement?
        for (key, value) in properties.members where key.isString(name) { found = value }
        return found.flatMap { $0.kind == .number || $0.kind == .string ? $0 : nil }
    }

    private func append(
        _ feature: JSONElement, _ members: Members, _ identifier: JSONElement?, _ coordinates: JSONElement,
        _ properties: JSONElement, _ blob: FeatureBlob
    ) {
        var rest: [UInt8] = []
        if members.hasRest {
            for (key, value) in feature.members
            where !key.isString("type") && !key.isString("id") && !key.isString("geometry")
                && !key.isString("properties")
            {
                rest.append(UInt8(ascii: ","))
                rest.append(contentsOf: key.rawText)
                rest.append(UInt8(ascii: ":"))
                rest.append(contentsOf: value.rawText)
            }
        }
        let identifierText = identifier?.rawText ?? UnsafeRawBufferPointer(start: nil, count: 0)
        blob.append(length: identifierText.count)
        blob.append(length: coordinates.rawText.count)
        blob.append(length: rest.count)
        blob.append(identifierText)
        blob.append(coordinates.rawText)
        rest.withUnsafeBytes { blob.append($0) }
        blob.append(properties.rawText)
    }
}
