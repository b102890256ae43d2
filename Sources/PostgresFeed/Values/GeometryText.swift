// SPDX-License-Identifier: MIT
import JSON

/// Writes a PostGIS geometry as GeoJSON, as its cast to json does.
enum GeometryText {
    static func append(hexadecimal text: ArraySlice<UInt8>, to writer: inout ByteWriter) throws(PostgresDataError) {
        var reader = ByteReader(try Hexadecimal.bytes(text)[...])
        try append(&reader, depth: 0, to: &writer)
    }

    /// The maximum nesting of collections; nested collections are rare, and deeper nesting is an error.
    private static let deepest = 32

    private static func append(
        _ reader: inout ByteReader, depth: Int, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        let head = try GeometryHead(&reader)
        guard depth < deepest, let name = names[head.kind] else {
            throw PostgresDataError("a geometry has no form in GeoJSON")
        }
        writer.append("{\"type\":\"")
        writer.append(name)
        writer.append(head.kind == .collection ? "\",\"geometries\":" : "\",\"coordinates\":")
        switch head.kind {
        case .point: try appendPosition(head, &reader, to: &writer)
        case .lineString: try appendLine(head, &reader, to: &writer)
        case .polygon: try appendRings(head, &reader, to: &writer)
        default:
            try appendList(head, &reader, ofAtLeast: 5, to: &writer) { (reader, writer) throws(PostgresDataError) in
                if head.kind == .collection { return try append(&reader, depth: depth + 1, to: &writer) }
                let part = try GeometryHead(&reader)
                switch part.kind {
                case .point: try appendPosition(part, &reader, to: &writer)
                case .lineString: try appendLine(part, &reader, to: &writer)
                default: try appendRings(part, &reader, to: &writer)
                }
            }
        }
        writer.append(UInt8(ascii: "}"))
    }

    private static let names: [GeometryHead.Kind: StaticString] = [
        .point: "Point", .lineString: "LineString", .polygon: "Polygon", .multiPoint: "MultiPoint",
        .multiLineString: "MultiLineString", .multiPolygon: "MultiPolygon", .collection: "GeometryCollection",
    ]

    private static func appendRings(
        _ head: GeometryHead, _ reader: inout ByteReader, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        try appendList(head, &reader, ofAtLeast: 4, to: &writer) {
            (reader, writer) throws(PostgresDataError) in
            try appendLine(head, &reader, to: &writer)
        }
    }

    private static func appendLine(
        _ head: GeometryHead, _ reader: inout ByteReader, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        try appendList(head, &reader, ofAtLeast: 16, to: &writer) {
            (reader, writer) throws(PostgresDataError) in
            try appendPosition(head, &reader, to: &writer)
        }
    }

    private static func appendList(
        _ head: GeometryHead, _ reader: inout ByteReader, ofAtLeast bytes: Int, to writer: inout ByteWriter,
        _ body: (inout ByteReader, inout ByteWriter) throws(PostgresDataError) -> Void
    ) throws(PostgresDataError) {
        writer.append(UInt8(ascii: "["))
        for index in 0..<(try head.count(&reader, ofAtLeast: bytes)) {
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            try body(&reader, &writer)
        }
        writer.append(UInt8(ascii: "]"))
    }

    /// Appends a position. An empty point has no coordinates; the measure is left out.
    private static func appendPosition(
        _ head: GeometryHead, _ reader: inout ByteReader, to writer: inout ByteWriter
    ) throws(PostgresDataError) {
        let x = try head.coordinate(&reader)
        let y = try head.coordinate(&reader)
        let z = head.hasAltitude ? try head.coordinate(&reader) : nil
        if head.hasMeasure { _ = try head.coordinate(&reader) }
        writer.append(UInt8(ascii: "["))
        if !(x.isNaN && y.isNaN) {
            for (index, number) in ([x, y] + (z.map { [$0] } ?? [])).enumerated() {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                writer.append(number: number)
            }
        }
        writer.append(UInt8(ascii: "]"))
    }
}
