// SPDX-License-Identifier: MIT
import JSON
import ReplicationLog

/// The result of `CatalogQuery`.
struct Catalog: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        let type: UInt32
        let modifier: Int
        /// The type as SQL writes it, such as `character varying(20)`.
        let typeText: String
        /// The expression of a generated column; empty for other columns.
        let expression: String
        let maySelect: Bool

        var isGenerated: Bool { !expression.isEmpty }
    }

    /// A unique index.
    struct Index: Sendable, Equatable {
        let name: String
        let isPrimary: Bool
        let isIdentity: Bool
        let isPartial: Bool
        let isImmediate: Bool
        /// The index's columns; an empty name stands for an expression.
        let columns: [String]
    }

    struct Table: Sendable, Equatable {
        let id: UInt32
        /// The kind of relation: `r` an ordinary table, `p` a partitioned one; others cannot be followed.
        let kind: String
        /// The persistence: `p` permanent, `u` unlogged, `t` temporary.
        let persistence: String
        /// The replica identity: `d` the primary key, `i` an index, `f` all columns, `n` nothing.
        let identity: String
        let isOwner: Bool
        let owner: String
        let maySelect: Bool
        let hasPolicy: Bool
    }

    struct Slot: Sendable, Equatable {
        let plugin: String
        let database: String
        /// The server process that uses the slot; nil if none does.
        let process: Int?
        let isTemporary: Bool
        let confirmed: LogPosition?
        /// Whether the server has removed log that the slot requires.
        let isLost: Bool
    }

    struct Publication: Sendable, Equatable {
        let isOwner: Bool
        /// Whether it publishes INSERT, UPDATE, DELETE and TRUNCATE.
        let isComplete: Bool
        let isViaRoot: Bool
        let hasTable: Bool
        /// The row filter, from PostgreSQL 15.
        let rowFilter: String?
        /// The published columns; nil: all that can be.
        let columns: [String]?
    }

    let version: Int
    let walLevel: String
    let isStandby: Bool
    let user: String
    let database: String
    let mayReplicate: Bool
    let mayCreate: Bool
    let slotLimit: Int
    let slotCount: Int
    /// Tables with the same name in another letter case or schema, if the table does not exist; as SQL writes
    /// them.
    let namesakes: [String]
    let schemaExists: Bool
    let mayUseSchema: Bool
    let table: Table?
    let storage: TableStorage
    let columns: [Column]
    let indexes: [Index]
    let types: TypeCatalog
    let slot: Slot?
    let publication: Publication?

    /// - Parameter rows: the query's result, one JSON text.
    init(_ rows: [[String?]]) throws(PostgresError) { try self.init((rows.first?.first ?? nil) ?? "") }

    init(_ text: String) throws(PostgresError) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONReader.parse(text) } catch {
            throw PostgresError("the server's catalog cannot be read: \(error)")
        }
        version = json.integer("version")
        walLevel = json.text("walLevel")
        isStandby = json.flag("isStandby")
        user = json.text("user")
        database = json.text("database")
        mayReplicate = json.flag("mayReplicate")
        mayCreate = json.flag("mayCreate")
        slotLimit = json.integer("slotLimit")
        slotCount = json.integer("slotCount")
        namesakes = json.list("namesakes").map {
            "\(SQLName.readable($0.text("schema"))).\(SQLName.readable($0.text("name")))"
        }
        schemaExists = json.flag("schemaExists")
        mayUseSchema = json.flag("mayUseSchema")
        table = json.member("table").map(Table.init)
        storage = TableStorage(
            partitions: json.text("partitions"), files: json.text("files"),
            columns: json.text("columnVersions"))
        columns = json.list("columns").map(Column.init)
        indexes = json.list("indexes").map(Index.init)
        types = TypeCatalog(json.list("types"))
        slot = json.member("slot").map(Slot.init)
        publication = json.member("publication").map {
            Publication($0, isOwner: json.flag("ownsPublication"), table: json.member("published"))
        }
    }
}

extension Catalog.Table {
    fileprivate init(_ json: JSONValue) {
        id = json.oid("oid")
        kind = json.text("kind")
        persistence = json.text("persistence")
        identity = json.text("identity")
        isOwner = json.flag("isOwner")
        owner = json.text("owner")
        maySelect = json.flag("maySelect")
        hasPolicy = json.flag("hasPolicy")
    }
}

extension Catalog.Column {
    fileprivate init(_ json: JSONValue) {
        name = json.text("name")
        type = json.oid("type")
        modifier = json.integer("modifier")
        typeText = json.text("typeText")
        expression = json.text("expression")
        maySelect = json.flag("maySelect")
    }
}

extension Catalog.Index {
    fileprivate init(_ json: JSONValue) {
        name = json.text("name")
        isPrimary = json.flag("isPrimary")
        isIdentity = json.flag("isIdentity")
        isPartial = json.flag("isPartial")
        isImmediate = json.flag("isImmediate")
        columns = json.list("columns").map { if case .string(let name) = $0 { name } else { "" } }
    }
}

extension Catalog.Slot {
    fileprivate init(_ json: JSONValue) {
        plugin = json.text("plugin")
        database = json.text("database")
        process = json.flag("active") ? json.integer("active_pid") : nil
        isTemporary = json.flag("temporary")
        confirmed = LogPosition(json.text("confirmed_flush_lsn"))
        isLost = json.text("wal_status") == "lost" || !json.text("invalidation_reason").isEmpty
    }
}

extension Catalog.Publication {
    fileprivate init(_ json: JSONValue, isOwner: Bool, table: JSONValue?) {
        self.isOwner = isOwner
        isComplete = ["pubinsert", "pubupdate", "pubdelete", "pubtruncate"].allSatisfy { json.flag($0) }
        isViaRoot = json.flag("pubviaroot")
        hasTable = table != nil
        let filter = table?.text("rowfilter") ?? ""
        rowFilter = filter.isEmpty ? nil : filter
        let names = table?.list("attnames") ?? []
        columns =
            names.isEmpty ? nil : names.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
}

/// Reads members of the catalog's JSON. A member that is missing or of another type is read as the type's
/// empty value.
extension JSONValue {
    /// A member; nil if it is missing or null.
    func member(_ key: String) -> JSONValue? {
        guard case .object(let object) = self, let value = object[key], value != .null else { return nil }
        return value
    }

    func text(_ key: String) -> String {
        if case .string(let text)? = member(key) { text } else { "" }
    }

    func flag(_ key: String) -> Bool { member(key) == .bool(true) }

    func integer(_ key: String) -> Int {
        if case .number(let number)? = member(key) { Int(exactly: number) ?? 0 } else { 0 }
    }

    func oid(_ key: String) -> UInt32 { UInt32(exactly: integer(key)) ?? 0 }

    func list(_ key: String) -> [JSONValue] {
        if case .array(let values)? = member(key) { values } else { [] }
    }
}
