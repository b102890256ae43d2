// SPDX-License-Identifier: MIT

/// The type of a column.
public enum ArrowType: Sendable, Equatable {
    case int64
    case uint64
    case float64
    case bool
    case utf8
    /// JSON text, which Arrow's canonical extension `arrow.json` marks.
    case json
    /// A struct of `x` and `y` (float64), which the extension `geoarrow.point` marks.
    ///
    /// - Parameter crs: the coordinate reference system, such as `OGC:CRS84`; nil if there is none.
    case point(crs: String?)

    /// The extension's name and metadata, as a field's metadata.
    fileprivate var metadata: [(name: String, value: String)] {
        switch self {
        case .int64, .uint64, .float64, .bool, .utf8: []
        case .json: [("ARROW:extension:name", "arrow.json"), ("ARROW:extension:metadata", "")]
        case .point(nil): [("ARROW:extension:name", "geoarrow.point"), ("ARROW:extension:metadata", "{}")]
        case .point(let crs?):
            [
                ("ARROW:extension:name", "geoarrow.point"),
                ("ARROW:extension:metadata", "{\"crs\":\"\(crs)\",\"crs_type\":\"authority_code\"}"),
            ]
        }
    }
}

/// A column's name and type. Every value may be null.
public struct ArrowField: Sendable, Equatable {
    public let name: String
    public let type: ArrowType

    public init(_ name: String, _ type: ArrowType) { (self.name, self.type) = (name, type) }
}

/// A table's columns, and what is known of the table as a whole.
public struct ArrowSchema: Sendable {
    public let fields: [ArrowField]
    public let metadata: [(name: String, value: String)]

    public init(_ fields: [ArrowField], metadata: [(name: String, value: String)] = []) {
        (self.fields, self.metadata) = (fields, metadata)
    }

    /// The schema's message (Schema.fbs and Message.fbs of Arrow's format, version 1.5).
    var message: [UInt8] {
        var builder = FlatBufferBuilder()
        let columns = builder.vector(fields.map { builder.field($0.name, $0.type, metadata: $0.type.metadata) })
        let pairs = metadata.isEmpty ? nil : builder.metadata(metadata)
        builder.beginTable()
        builder.add(0, Int16(0))  // little-endian
        builder.add(1, columns)
        if let pairs { builder.add(2, pairs) }
        let schema = builder.endTable()
        return builder.message(.schema, schema, bodyBytes: 0)
    }
}

extension FlatBufferBuilder {
    /// What a message has: the numbers of the union MessageHeader.
    enum Header: UInt8 {
        case schema = 1
        case recordBatch = 3
    }

    /// The numbers of the union Type.
    private enum TypeNumber: UInt8 {
        case integer = 2
        case floatingPoint = 3
        case utf8 = 5
        case bool = 6
        case structure = 13
    }

    /// A Message, as the root.
    mutating func message(_ header: Header, _ content: Reference, bodyBytes: Int) -> [UInt8] {
        beginTable()
        add(3, Int64(bodyBytes))
        add(2, content)
        add(0, Int16(4))  // MetadataVersion.V5
        add(1, header.rawValue)
        return finish(endTable())
    }

    fileprivate mutating func metadata(_ pairs: [(name: String, value: String)]) -> Reference {
        let references = pairs.map { (name, value) in
            let (name, value) = (string(name), string(value))
            beginTable()
            add(0, name)
            add(1, value)
            return endTable()
        }
        return vector(references)
    }

    fileprivate mutating func field(
        _ name: String, _ type: ArrowType, isNullable: Bool = true, metadata pairs: [(name: String, value: String)]
    ) -> Reference {
        let name = string(name)
        var children: [Reference] = []
        if case .point = type {
            children = ["x", "y"].map { field($0, .float64, isNullable: false, metadata: []) }
        }
        let childVector = vector(children)
        let number: TypeNumber
        beginTable()
        switch type {
        case .int64, .uint64:
            number = .integer
            add(0, Int32(64))
            add(1, type == .int64)
        case .float64:
            number = .floatingPoint
            add(0, Int16(2))  // DOUBLE
        case .bool: number = .bool
        case .utf8, .json: number = .utf8
        case .point: number = .structure
        }
        let details = endTable()
        let metadata = pairs.isEmpty ? nil : metadata(pairs)
        beginTable()
        add(0, name)
        add(3, details)
        add(5, childVector)
        if let metadata { add(6, metadata) }
        add(1, isNullable)
        add(2, number.rawValue)
        return endTable()
    }
}
