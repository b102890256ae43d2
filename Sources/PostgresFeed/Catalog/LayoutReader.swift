// SPDX-License-Identifier: MIT

/// How a table can be followed, derived from the catalog without further queries.
struct FollowPlan: Sendable, Equatable {
    /// The server's version, such as 150020 for 15.20.
    let version: Int
    let layout: TableLayout
    let table: Catalog.Table
    let storage: TableStorage
    let fingerprint: UInt32
    /// The statements that create or complete the publication; empty if it is ready.
    let publicationSQL: [String]
    /// The statement that copies the table.
    let copySQL: String

    /// Why the table must be copied if its rows lay in `earlier` before; nil if it need not be.
    func copyReason(since earlier: TableStorage) -> String? {
        storage.copyReason(since: earlier, isPartitioned: table.kind == "p")
    }

    /// - Throws: all problems found.
    static func make(_ catalog: Catalog, _ configuration: TableFeedConfiguration) -> Result<FollowPlan, TableProblems> {
        var problems = ServerCheck(catalog, configuration).problems
        guard let table = catalog.table, ["r", "p"].contains(table.kind) else {
            return .failure(TableProblems(problems))
        }
        var reader = LayoutReader(catalog, configuration)
        let layout = reader.layout()
        problems += reader.problems
        let check = PublicationCheck(catalog: catalog, configuration: configuration, table: table)
        problems += check.problems()
        guard problems.isEmpty, let layout else { return .failure(TableProblems(problems)) }
        let filter = catalog.publication?.hasTable == true ? catalog.publication?.rowFilter : nil
        return .success(
            FollowPlan(
                version: catalog.version, layout: layout, table: table, storage: catalog.storage,
                fingerprint: layout.fingerprint(rowFilter: filter), publicationSQL: check.statements(),
                copySQL: CopyStatement.sql(layout, catalog, configuration, table: table, rowFilter: filter)))
    }
}

/// Derives a table's layout from the catalog, or the problems with the table.
struct LayoutReader {
    let catalog: Catalog
    let configuration: TableFeedConfiguration
    private(set) var problems: [TableProblem] = []

    private var table: String { configuration.readableTable }

    init(_ catalog: Catalog, _ configuration: TableFeedConfiguration) {
        (self.catalog, self.configuration) = (catalog, configuration)
    }

    /// The layout; nil if there are problems.
    mutating func layout() -> TableLayout? {
        let (id, position) = (idColumn(), position())
        var used: Set<String> = []
        if let id { used.insert(id.name) }
        switch position {
        case .geometry(let column): used.insert(column.name)
        case .coordinates(let longitude, let latitude): used.formUnion([longitude.name, latitude.name])
        case nil: break
        }
        let properties = properties(without: used)
        guard problems.isEmpty, let id, let position else { return nil }
        let (generated, inputs) = GeneratedInputs(catalog).find(
            TableLayout.columns(id, position, properties).map(\.name))
        return TableLayout(
            id: id, position: position, properties: properties,
            takesAllColumns: configuration.properties == nil, generated: generated, inputs: inputs)
    }

    /// Records why a part of the layout is missing, and returns nil for it.
    private mutating func report<Part>(_ kind: TableProblem.Kind, _ message: String, sql: [String] = []) -> Part? {
        problems.add(kind, message, sql: sql)
        return nil
    }

    private func column(_ column: Catalog.Column) -> TableLayout.Column {
        TableLayout.Column(
            name: column.name, type: column.type, modifier: column.modifier, kind: catalog.types.kind(of: column.type))
    }

    private mutating func named(_ name: String, _ kind: TableProblem.Kind, _ role: String) -> Catalog.Column? {
        guard let column = catalog.columns.first(where: { $0.name == name }) else {
            return report(
                kind,
                "table \(table) has no column \(SQLName.readable(name)), which the declaration names as \(role); its "
                    + "columns are " + catalog.columns.map(\.name).joined(separator: ", "))
        }
        return checked(column)
    }

    /// Returns the column if it can be read and is published; otherwise records a problem.
    private mutating func checked(_ column: Catalog.Column) -> Catalog.Column? {
        let name = SQLName.readable(column.name)
        if column.isGenerated && !isComputable(column) {
            return report(
                .publication,
                "column \(name) of \(table) is generated from columns that publication "
                    + "\(configuration.publicationName) does not publish", sql: publishingAll)
        }
        // If no column can be read, that is reported once, for the table.
        if !column.maySelect && catalog.columns.contains(where: \.maySelect) {
            return report(
                .rights, "user \(catalog.user) may not read column \(name) of \(table)",
                sql: ["GRANT SELECT (\(name)) ON \(table) TO \(SQLName.readable(catalog.user));"])
        }
        if !column.isGenerated, let columns = catalog.publication?.columns,
            catalog.publication?.hasTable == true,
            !columns.contains(column.name)
        {
            return report(
                .publication,
                "publication \(configuration.publicationName) does not publish column \(name) of \(table)",
                sql: publishingAll)
        }
        return column
    }

    private func isPublished(_ name: String) -> Bool { catalog.publication?.columns?.contains(name) ?? true }

    /// Whether a generated column can be computed from the published columns.
    private func isComputable(_ column: Catalog.Column) -> Bool {
        GeneratedInputs(catalog).names(column).allSatisfy { isPublished($0) }
    }

    private var publishingAll: [String] {
        ["ALTER PUBLICATION \(SQLName.readable(configuration.publicationName)) SET TABLE \(table);"]
    }

    // MARK: The key

    private static let idTypes: Set<String> = [
        "int2", "int4", "int8", "text", "varchar", "bpchar", "name", "citext", "uuid",
    ]

    private mutating func idColumn() -> TableLayout.Column? {
        guard let name = idName(), let found = named(name, .key, "the id") else { return nil }
        let type = catalog.types.baseName(found.type)
        guard Self.idTypes.contains(type) else {
            return report(
                .key,
                "column \(SQLName.readable(name)) of \(table) is of type \(found.typeText); an id is an integer, a text "
                    + "or a uuid")
        }
        checkIdentity(name)
        return column(found)
    }

    private mutating func idName() -> String? {
        let primary = catalog.indexes.first(where: \.isPrimary)
        if let name = configuration.id {
            let unique = catalog.indexes.contains { $0.columns == [name] && !$0.isPartial }
            if !unique, catalog.columns.contains(where: { $0.name == name }) {
                problems.add(
                    .key, "column \(SQLName.readable(name)) of \(table) is not unique",
                    sql: ["CREATE UNIQUE INDEX ON \(table) (\(SQLName.readable(name)));"])
            }
            return name
        }
        guard let primary else {
            if let problem = uniqueColumn("table \(table) has no primary key, and the declaration names no id") {
                problems.append(problem)
                return nil
            }
            let free = catalog.columns.contains { $0.name == "id" } ? "feature_id" : "id"
            return report(
                .key, "table \(table) has no primary key, and the declaration names no id",
                sql: [
                    "ALTER TABLE \(table) ADD COLUMN \(free) bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;"
                ])
        }
        guard primary.columns.count == 1 else {
            let fault =
                "the primary key of \(table) has several columns (\(primary.columns.joined(separator: ", "))); an id is "
                + "one column"
            problems.append(
                uniqueColumn(fault)
                    ?? TableProblem(
                        .key, "\(fault): add one that is unique, and name it as \"id\"",
                        sql: [
                            "ALTER TABLE \(table) ADD COLUMN feature_id bigint GENERATED ALWAYS AS IDENTITY UNIQUE;",
                            "ALTER TABLE \(table) REPLICA IDENTITY USING INDEX "
                                + SQLName.readable(configuration.table + "_feature_id_key") + ";",
                        ]))
            return nil
        }
        return primary.columns[0]
    }

    /// A problem that naming a column solves, since it is unique already and may be an id; nil if there is none.
    private func uniqueColumn(_ fault: String) -> TableProblem? {
        let names = catalog.indexes.compactMap { index -> String? in
            guard index.columns.count == 1, !index.isPartial, index.isImmediate else { return nil }
            let column = catalog.columns.first { $0.name == index.columns[0] }
            return column.flatMap { Self.idTypes.contains(catalog.types.baseName($0.type)) ? $0.name : nil }
        }
        guard let name = names.first else { return nil }
        return TableProblem(
            .key, "\(fault); column \(SQLName.readable(name)) is unique: name it as \"id\" (--id \(name))")
    }

    /// Checks that changes of rows contain the id: their old values are those of the replica identity.
    private mutating func checkIdentity(_ id: String) {
        let identity = catalog.table?.identity ?? "d"
        let index =
            identity == "d" ? catalog.indexes.first(where: \.isPrimary) : catalog.indexes.first(where: \.isIdentity)
        if identity == "f" || (identity != "n" && index?.columns.contains(id) == true) { return }
        var sql = "ALTER TABLE \(table) REPLICA IDENTITY FULL;"
        if catalog.indexes.contains(where: { $0.isPrimary && $0.columns == [id] }) {
            sql = "ALTER TABLE \(table) REPLICA IDENTITY DEFAULT;"
        } else if let index = catalog.indexes.first(where: {
            $0.columns == [id] && !$0.isPartial && $0.isImmediate
        }) {
            let name = SQLName.readable(id)
            sql =
                "ALTER TABLE \(table) ALTER COLUMN \(name) SET NOT NULL, REPLICA IDENTITY USING INDEX "
                + "\(SQLName.readable(index.name));"
        }
        problems.add(
            .replicaIdentity,
            "the replica identity of \(table) does not contain its id \(SQLName.readable(id)), so that changes do not say "
                + "which row they are of", sql: [sql])
    }

    // MARK: The position

    private mutating func position() -> TableLayout.Position? {
        switch configuration.geometry {
        case .coordinates(let longitude, let latitude):
            guard let longitude = coordinate(longitude, "the longitude"),
                let latitude = coordinate(latitude, "the latitude")
            else { return nil }
            return .coordinates(longitude: longitude, latitude: latitude)
        case .column(let name?):
            return named(name, .geometry, "the geometry").flatMap { geometry($0) }
        case .column(nil):
            let found = catalog.columns.filter { isGeometry($0) }
            guard found.count == 1 else {
                return report(
                    .geometry,
                    found.isEmpty
                        ? "table \(table) has no column of type geometry or geography; name two numeric columns as "
                            + "\"longitude\" and \"latitude\""
                        : "table \(table) has several geometry columns (\(found.map(\.name).joined(separator: ", "))); "
                            + "name one as \"geometry\"")
            }
            return checked(found[0]).flatMap { geometry($0) }
        }
    }

    private mutating func coordinate(_ name: String, _ role: String) -> TableLayout.Column? {
        guard let found = named(name, .geometry, role) else { return nil }
        guard catalog.types.kind(of: found.type) == .number else {
            return report(
                .geometry,
                "column \(SQLName.readable(name)) of \(table) is of type \(found.typeText); \(role) is a number"
            )
        }
        return column(found)
    }

    private func isGeometry(_ column: Catalog.Column) -> Bool {
        ["geometry", "geography"].contains(catalog.types.baseName(column.type))
    }

    private mutating func geometry(_ found: Catalog.Column) -> TableLayout.Position? {
        let name = SQLName.readable(found.name)
        guard isGeometry(found) else {
            return report(
                .geometry,
                "column \(name) of \(table) is of type \(found.typeText), not a geometry or geography of PostGIS")
        }
        let modifier = GeometryModifier(catalog.types.resolve(found.type, modifier: found.modifier).modifier)
        guard modifier.allowsPoints else {
            return report(
                .geometry,
                "column \(name) of \(table) is of type \(found.typeText), which has no points; add a column of points",
                sql: GeneratedColumn.point(found, of: configuration, reference: modifier.reference))
        }
        guard [0, 4326, 3857].contains(modifier.reference) else {
            return report(
                .geometry,
                "column \(name) of \(table) has SRID \(modifier.reference); 4326 and 3857 can be followed: add a generated "
                    + "column and name it as \"geometry\"", sql: GeneratedColumn.transformed(found, of: configuration))
        }
        return .geometry(column(found))
    }

    // MARK: Properties

    private mutating func properties(without used: Set<String>) -> [TableLayout.Column] {
        guard let names = configuration.properties else {
            let columns = catalog.columns.filter { column in
                !used.contains(column.name) && (column.isGenerated ? isComputable(column) : isPublished(column.name))
            }
            return columns.compactMap { checked($0) }.map { column($0) }
        }
        let found = names.compactMap { named($0, .columns, "a property")?.name }
        return catalog.columns.filter { found.contains($0.name) }.map { column($0) }
    }
}
