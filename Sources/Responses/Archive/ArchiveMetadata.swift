// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine

/// The metadata of an archive: a JSON object as the PMTiles and TileJSON specifications describe it, with the field
/// statistics that map editors read (`tilestats`).
///
/// Sources: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md (section 5),
/// https://github.com/mapbox/mapbox-geostats
struct ArchiveMetadata {
    var name: String
    var description: String?
    var attribution: String?
    /// The program and its version.
    var generator: String
    var layer: String
    var minimumZoom: Int
    var maximumZoom: Int
    /// Identifies the part of the source to which its publisher was restricted; nil: the whole.
    var part: String?
    /// How many points the source has.
    var pointCount: Int
    var fields: [String: FieldStatistics]
    /// Nil for a map of the Earth.
    var plane: Plane?

    /// What a reader needs to know about a plane, since the archive's header only gives its location on a map of the
    /// Earth.
    struct Plane {
        /// The box whose longer side spans the map.
        var box: PlanarBox
        /// The extent of the points in the plane's units; nil without points.
        var bounds: Box?
    }

    /// The most values listed for a field. `count` covers up to a thousand.
    private static let mostListedValues = 100

    var json: [UInt8] {
        var bytes = ByteWriter(capacity: 4096)
        bytes.append("{\"name\":")
        bytes.append(json: name)
        if let description {
            bytes.append(",\"description\":")
            bytes.append(json: description)
        }
        if let attribution {
            bytes.append(",\"attribution\":")
            bytes.append(json: attribution)
        }
        bytes.append(",\"type\":\"overlay\",\"generator\":")
        bytes.append(json: generator)
        // Read when the archive is served to callers who may not see everything.
        bytes.append(",\"clusterd\":{\"source\":")
        bytes.append(json: layer)
        if let part {
            bytes.append(",\"part\":")
            bytes.append(json: part)
        }
        bytes.append("}")
        if let plane { Self.write(plane, into: &bytes) }
        bytes.append(",\"vector_layers\":[{\"id\":")
        bytes.append(json: layer)
        bytes.append(",\"description\":")
        bytes.append(json: description ?? "")
        bytes.append(",\"minzoom\":")
        bytes.append(integer: minimumZoom)
        bytes.append(",\"maxzoom\":")
        bytes.append(integer: maximumZoom)
        bytes.append(",\"fields\":{")
        let sorted = fields.sorted { $0.key < $1.key }
        for (index, field) in sorted.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append(json: field.key)
            bytes.append(":\"")
            bytes.append(field.value.kinds.name)
            bytes.append("\"")
        }
        bytes.append("}}],\"tilestats\":{\"layerCount\":1,\"layers\":[{\"layer\":")
        bytes.append(json: layer)
        bytes.append(",\"count\":")
        bytes.append(integer: pointCount)
        bytes.append(",\"geometry\":\"Point\",\"attributeCount\":")
        bytes.append(integer: fields.count)
        bytes.append(",\"attributes\":[")
        for (index, field) in sorted.enumerated() {
            if index > 0 { bytes.append(",") }
            Self.write(field.key, field.value, into: &bytes)
        }
        bytes.append("]}]}}")
        return bytes.bytes
    }

    private static func write(_ plane: Plane, into bytes: inout ByteWriter) {
        let (box, bounds) = (plane.box, plane.bounds)
        let sides = [box.minimumX, box.minimumY, box.maximumX, box.maximumY]
        let extent = bounds.map { [$0.west, $0.south, $0.east, $0.north] }
        bytes.append(",\"projection\":{\"planar\":")
        bytes.append(.array(sides.map(JSONValue.number)))
        bytes.append("},\"planar_bounds\":")
        bytes.append(extent.map { .array($0.map(JSONValue.number)) } ?? .null)
    }

    private static func write(_ name: String, _ field: FieldStatistics, into bytes: inout ByteWriter) {
        bytes.append("{\"attribute\":")
        bytes.append(json: name)
        bytes.append(",\"count\":")
        bytes.append(integer: field.values.count)
        bytes.append(",\"type\":\"")
        bytes.append(raw: "\(field.kinds.name)".lowercased())
        bytes.append("\",\"values\":[")
        let values = field.values.sorted { $0.lexicographicallyPrecedes($1) }
        for (index, value) in values.prefix(mostListedValues).enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append(contentsOf: value)
        }
        bytes.append("]")
        if let range = field.range {
            bytes.append(",\"min\":")
            bytes.append(number: range.lowerBound)
            bytes.append(",\"max\":")
            bytes.append(number: range.upperBound)
        }
        bytes.append("}")
    }
}

extension Projection {
    /// The degrees at which a map of the Earth shows a position. Map libraries draw a plane's tiles on the Earth, and
    /// archives have no other bounds.
    package func degrees(x: Double, y: Double) -> (longitude: Double, latitude: Double) {
        guard case .planar = self else { return (x, y) }
        return (Mercator.longitude(x: self.x(longitude: x)), Mercator.latitude(y: self.y(latitude: y)))
    }
}
