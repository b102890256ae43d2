// SPDX-License-Identifier: MIT
import ArrowStream
import Glibc
import JSON

/// The columns of an answer, filled row by row and written batch by batch. Used by one thread.
struct ColumnBuilder {
    private let longitude = ArrowColumn(.float64)
    private let latitude = ArrowColumn(.float64)
    private let identifier: ArrowColumn
    private let clusterID = ArrowColumn(.uint64)
    private let pointCount = ArrowColumn(.int64)
    private let key: ArrowColumn?
    private let properties: [ArrowColumn]
    private let all: [ArrowColumn]
    let schema: ArrowSchema
    private(set) var rows = 0
    /// About the bytes that the rows take, rather too many than too few.
    private(set) var byteCount = 0

    /// - Parameters:
    ///   - geometry: the reference system of a column `geometry`; nil without one.
    ///   - names: the names of the properties, and the types of their columns.
    init(
        identifiers: ArrowType, hasKeys: Bool, geometry: GeometryColumn?, _ names: [[UInt8]], _ types: [ArrowType],
        metadata: [(name: String, value: String)]
    ) {
        identifier = ArrowColumn(identifiers)
        key = hasKeys ? ArrowColumn(.utf8) : nil
        properties = types.map { ArrowColumn($0) }
        var fields = [
            ArrowField("longitude", .float64), ArrowField("latitude", .float64), ArrowField("id", identifiers),
            ArrowField("cluster_id", .uint64), ArrowField("point_count", .int64),
        ]
        var all = [longitude, latitude, identifier, clusterID, pointCount]
        if let key {
            fields.append(ArrowField("key", .utf8))
            all.append(key)
        }
        var fixed = fields.map(\.name)
        if geometry != nil { fixed.append("geometry") }
        for (name, type) in zip(ColumnNames.columns(of: names, beside: fixed), types) {
            fields.append(ArrowField(name, type))
        }
        all += properties
        if let geometry {
            fields.append(ArrowField("geometry", .point(crs: geometry.crs)))
            all.append(ArrowColumn(crs: geometry.crs, x: longitude, y: latitude))
        }
        self.all = all
        schema = ArrowSchema(fields, metadata: metadata)
    }

    mutating func append(_ row: Row, _ values: RowProperties) {
        let position = row.position
        longitude.append(position.longitude)
        latitude.append(position.latitude)
        ValueText.append(identifier: row.identifier, to: identifier)
        if let cluster = row.cluster {
            clusterID.append(UInt64(bitPattern: cluster.id))
            pointCount.append(Int64(cluster.points))
        } else {
            clusterID.appendNull()
            pointCount.appendNull()
        }
        if let key, let value = row.key {
            var text = ByteWriter(capacity: 64)
            MarkerWriter.write(key: value, into: &text)
            text.withUnsafeBytes { ValueText.append($0, to: key) }
        }
        byteCount += 8 * all.count + row.identifier.count
        for number in properties.indices {
            // The names of rows that have not been read yet are unknown.
            guard number < values.isPresent.count, values.isPresent[number] else {
                properties[number].appendNull()
                continue
            }
            let value = values.values[number]
            byteCount += value.count
            ValueText.append(value, to: properties[number])
        }
        rows += 1
    }

    /// Writes the rows as a batch, and begins the next one.
    mutating func writeBatch(into bytes: inout ByteWriter) {
        ArrowStreamWriter.writeBatch(all, rows: rows, into: &bytes)
        for column in all { column.removeAll() }
        (rows, byteCount) = (0, 0)
    }
}

/// A column of points.
struct GeometryColumn {
    /// The reference system; nil of a plane.
    let crs: String?
}

/// Puts JSON values into columns of their type.
enum ValueText {
    /// - Parameter text: a value that the column's type was made for, or null.
    static func append(_ text: UnsafeRawBufferPointer, to column: ArrowColumn) {
        guard let first = text.first, first != UInt8(ascii: "n") else { return column.appendNull() }
        switch column.type {
        case .int64: if let value = IntegerText.value(text) { column.append(value) } else { column.appendNull() }
        case .float64: if let value = JSONText.number(text) { column.append(value) } else { column.appendNull() }
        case .bool: column.append(first == UInt8(ascii: "t"))
        case .utf8: append(string: text, to: column)
        case .json: column.append(text)
        case .uint64, .point: column.appendNull()
        }
    }

    /// Appends an id, of a column of integers or of texts.
    static func append(identifier text: UnsafeRawBufferPointer, to column: ArrowColumn) {
        if column.type == .utf8, let first = text.first, first != UInt8(ascii: "\""), first != UInt8(ascii: "n") {
            return column.append(text)
        }
        append(text, to: column)
    }

    private static func append(string text: UnsafeRawBufferPointer, to column: ArrowColumn) {
        guard text.count >= 2, let start = text.baseAddress else { return column.appendNull() }
        let inside = UnsafeRawBufferPointer(rebasing: text[1..<text.count - 1])
        guard memchr(start, Int32(UInt8(ascii: "\\")), text.count) != nil else { return column.append(inside) }
        JSONText.bytes(inside: inside).withUnsafeBytes { column.append($0) }
    }
}
