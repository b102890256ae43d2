// SPDX-License-Identifier: MIT

/// How a table's rows become features: which column is the id, which the position, and which are properties.
struct TableLayout: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        let type: UInt32
        /// The type modifier, such as a numeric's digits; -1 if there is none.
        let modifier: Int
        let kind: ValueKind
    }

    enum Position: Sendable, Equatable {
        case geometry(Column)
        case coordinates(longitude: Column, latitude: Column)
    }

    let id: Column
    let position: Position
    /// The columns that become properties, in the table's order.
    let properties: [Column]
    /// Whether all columns of the table are read, so that an additional column changes the layout.
    let takesAllColumns: Bool

    /// The generated columns among these; changes do not contain their values.
    let generated: [Generated]
    /// The columns from which the generated columns are computed.
    let inputs: [Catalog.Column]

    /// A generated column.
    struct Generated: Sendable, Equatable {
        /// The column's index in `columns`.
        let index: Int
        let expression: String
        /// The type as SQL writes it.
        let typeText: String
        let castsToOutput: Bool
        /// The indexes in `inputs` of the columns that the expression names.
        let inputs: [Int]
    }

    /// All columns that are read, in the order in which a copy selects them.
    var columns: [Column] { Self.columns(id, position, properties) }

    static func columns(_ id: Column, _ position: Position, _ properties: [Column]) -> [Column] {
        switch position {
        case .geometry(let column): [id, column] + properties
        case .coordinates(let longitude, let latitude): [id, longitude, latitude] + properties
        }
    }

    /// A number that changes whenever rows would become different features.
    func fingerprint(rowFilter: String?) -> UInt32 {
        var text = ""
        for column in columns {
            text +=
                "\(column.name.utf8.count):\(column.name):\(column.type):\(column.modifier):\(column.kind);"
        }
        switch position {
        case .geometry: text += "geometry"
        case .coordinates: text += "coordinates"
        }
        for column in generated { text += column.expression }
        text += rowFilter ?? ""
        return Fingerprint.of(text)
    }
}

/// The SQL of generated columns that derive points from other geometries.
enum GeneratedColumn {
    /// A column with the same points in degrees.
    static func transformed(_ column: Catalog.Column, of configuration: TableFeedConfiguration) -> [String] {
        [statement(column, configuration, "ST_Transform(\(geometry(column)), 4326)")]
    }

    /// A column with a point on each geometry.
    static func point(_ column: Catalog.Column, of configuration: TableFeedConfiguration, reference: Int) -> [String] {
        let point = "ST_PointOnSurface(\(geometry(column)))"
        let value = [0, 4326].contains(reference) ? "ST_SetSRID(\(point), 4326)" : "ST_Transform(\(point), 4326)"
        return [statement(column, configuration, value)]
    }

    private static func statement(
        _ column: Catalog.Column, _ configuration: TableFeedConfiguration, _ value: String
    ) -> String {
        return
            "ALTER TABLE \(configuration.readableTable) ADD COLUMN \(SQLName.readable(column.name + "_4326")) geometry(Point, 4326) "
            + "GENERATED ALWAYS AS (\(value)) STORED;"
    }

    private static func geometry(_ column: Catalog.Column) -> String {
        SQLName.readable(column.name) + (column.typeText.contains("geography") ? "::geometry" : "")
    }
}

/// Finds the columns from which generated columns are computed.
struct GeneratedInputs {
    private let catalog: Catalog

    init(_ catalog: Catalog) { self.catalog = catalog }

    /// The columns that an expression names. They may include a name that is only part of another word, which
    /// does no harm to the computation.
    func names(_ column: Catalog.Column) -> [String] {
        catalog.columns.filter { !$0.isGenerated && column.expression.contains($0.name) }.map(\.name)
    }

    /// The generated columns of a layout, with their indexes in it, and all columns from which they are computed.
    func find(_ columns: [String]) -> ([TableLayout.Generated], [Catalog.Column]) {
        let generated = columns.enumerated().compactMap { index, name in
            catalog.columns.first { $0.name == name && $0.isGenerated }.map { (index, $0) }
        }
        let used = Set(generated.flatMap { names($0.1) })
        let inputs = catalog.columns.filter { used.contains($0.name) }
        let found = generated.map { index, column in
            let names = names(column)
            return TableLayout.Generated(
                index: index, expression: column.expression, typeText: column.typeText,
                castsToOutput: catalog.types.castsToOutput(column.type),
                inputs: inputs.indices.filter { names.contains(inputs[$0].name) })
        }
        return (found, inputs)
    }
}

/// The type modifier of a PostGIS column, such as that of `geometry(Point, 4326)`.
///
/// Source: TYPMOD_GET_SRID and TYPMOD_GET_TYPE in PostGIS's liblwgeom.h.
struct GeometryModifier: Equatable {
    /// The SRID; 0 if there is none.
    let reference: Int
    /// The WKB number of the only kind allowed; 0 allows all.
    let kind: Int

    init(_ modifier: Int) {
        guard modifier >= 0 else {
            (reference, kind) = (0, 0)
            return
        }
        reference = ((modifier & 0x0fff_ff00) - (modifier & 0x1000_0000)) >> 8
        kind = (modifier & 0xfc) >> 2
    }

    var allowsPoints: Bool { kind <= 1 }
}

/// Identifies what a table's rows lie in and how they are published, to notice changes of rows that the log does not
/// contain.
///
/// The log has no rows of a table that ALTER TABLE rewrites, nor of a partition that is attached, detached,
/// dropped or truncated by itself, nor what changed while a publication left the table out.
///
/// Its text is `PARTITIONS-FILES-COLUMNS-PUBLICATION`, four numbers of 32 bits in hexadecimal digits.
struct TableStorage: Sendable, Equatable, LosslessStringConvertible {
    /// Changes with the table's partitions.
    let partitions: UInt32
    /// Changes when the table or a partition gets another file (`relfilenode`): by a rewrite, but also by
    /// VACUUM FULL, CLUSTER, TRUNCATE and SET TABLESPACE.
    let files: UInt32
    /// Changes with the definition of a column: each ALTER COLUMN writes it again, even if the type stays.
    let columns: UInt32
    /// Changes when the publication is made again or altered, and when the table is added to it again.
    let publication: UInt32

    /// - Parameters:
    ///   - partitions: the object ids of the table and of its partitions.
    ///   - files: their files.
    ///   - columns: the transactions that wrote the definitions of the columns.
    ///   - publication: the publication and its entries for the table, and the transactions that wrote them.
    init(partitions: String, files: String, columns: String, publication: String) {
        self.partitions = Fingerprint.of(partitions)
        self.files = Fingerprint.of(files)
        self.columns = Fingerprint.of(columns)
        self.publication = Fingerprint.of(publication)
    }

    /// Reads what `description` writes; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt32($0, radix: 16) }
        guard parts.count == 4, let partitions = parts[0], let files = parts[1], let columns = parts[2],
            let publication = parts[3]
        else { return nil }
        (self.partitions, self.files, self.columns, self.publication) = (partitions, files, columns, publication)
    }

    var description: String {
        [partitions, files, columns, publication].map { String($0, radix: 16) }.joined(separator: "-")
    }

    static let unpublished = "the publication did not publish all changes of the table for a while"

    /// Why the table must be copied again if its rows lay in `earlier` before; nil if the log has all changes
    /// since then.
    ///
    /// VACUUM FULL and CLUSTER keep the rows, and the log has TRUNCATE of the table itself. They do not touch
    /// the columns' definitions, so only a table with partitions, of which one may have been truncated, is
    /// copied after them.
    func copyReason(since earlier: TableStorage, isPartitioned: Bool) -> String? {
        if partitions != earlier.partitions {
            return "a partition was added or removed, whose rows the server's log does not have"
        }
        if publication != earlier.publication { return Self.unpublished }
        guard files != earlier.files else { return nil }
        if columns != earlier.columns {
            return "the table was rewritten, as by ALTER TABLE … TYPE … USING, which the server's log does not have"
        }
        return isPartitioned
            ? "a partition has another file, as after TRUNCATE, which the server's log does not have" : nil
    }
}

/// Hashes text (FNV-1a), with the same result in every process.
enum Fingerprint {
    static func of(_ text: String) -> UInt32 {
        text.utf8.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}
