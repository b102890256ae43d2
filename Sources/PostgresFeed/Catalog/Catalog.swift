// SPDX-License-Identifier: MIT
import JSON
import ReplicationLog

/// The result of `CatalogQuery`. Its parts read their members from its JSON.
struct Catalog: Sendable, Equatable {
    private let json: JSONValue
    let columns: [Column]
    /// The unique indexes.
    let indexes: [Index]
    let types: TypeCatalog

    /// - Parameter rows: the query's result, one JSON text.
    init(_ rows: [[String?]]) throws(PostgresError) {
        do throws(JSONError) { json = try JSONReader.parse((rows.first?.first ?? nil) ?? "") } catch {
            throw PostgresError("the server's catalog cannot be read: \(error)")
        }
        columns = json.list("columns").map(Column.init)
        indexes = json.list("indexes").map(Index.init)
        types = TypeCatalog(json.list("types"))
    }

    var version: Int { json.integer("version") }
    var walLevel: String { json.text("walLevel") }
    var isStandby: Bool { json.flag("isStandby") }
    var user: String { json.text("user") }
    var database: String { json.text("database") }
    var mayReplicate: Bool { json.flag("mayReplicate") }
    var mayCreate: Bool { json.flag("mayCreate") }
    var slotLimit: Int { json.integer("slotLimit") }
    var slotCount: Int { json.integer("slotCount") }
    /// Tables with the same name in another letter case or schema, if the table does not exist; as SQL writes them.
    var namesakes: [String] {
        json.list("namesakes").map { "\(SQLName.readable($0.text("schema"))).\(SQLName.readable($0.text("name")))" }
    }
    var schemaExists: Bool { json.flag("schemaExists") }
    var mayUseSchema: Bool { json.flag("mayUseSchema") }
    var table: Table? { json.member("table").map(Table.init) }
    var storage: TableStorage {
        TableStorage(
            partitions: json.text("partitions"), files: json.text("files"), columns: json.text("columnVersions"),
            publication: json.text("publicationVersions"))
    }
    var slot: Slot? { json.member("slot").map(Slot.init) }
    var publication: Publication? {
        json.member("publication").map {
            Publication(json: $0, isOwner: json.flag("ownsPublication"), table: json.member("published"))
        }
    }

    struct Column: Sendable, Equatable {
        fileprivate let json: JSONValue

        var name: String { json.text("name") }
        var type: UInt32 { json.oid("type") }
        var modifier: Int { json.integer("modifier") }
        /// The type as SQL writes it, such as `character varying(20)`.
        var typeText: String { json.text("typeText") }
        /// The expression of a generated column; empty for other columns.
        var expression: String { json.text("expression") }
        var maySelect: Bool { json.flag("maySelect") }
        var isGenerated: Bool { !expression.isEmpty }
    }

    /// A unique index.
    struct Index: Sendable, Equatable {
        fileprivate let json: JSONValue

        var name: String { json.text("name") }
        var isPrimary: Bool { json.flag("isPrimary") }
        var isIdentity: Bool { json.flag("isIdentity") }
        var isPartial: Bool { json.flag("isPartial") }
        var isImmediate: Bool { json.flag("isImmediate") }
        /// The index's columns; an empty name stands for an expression.
        var columns: [String] { json.strings("columns") }
    }

    struct Table: Sendable, Equatable {
        fileprivate let json: JSONValue

        var id: UInt32 { json.oid("oid") }
        /// The kind of relation: `r` an ordinary table, `p` a partitioned one; others cannot be followed.
        var kind: String { json.text("kind") }
        /// The persistence: `p` permanent, `u` unlogged, `t` temporary.
        var persistence: String { json.text("persistence") }
        /// The replica identity: `d` the primary key, `i` an index, `f` all columns, `n` nothing.
        var identity: String { json.text("identity") }
        var isOwner: Bool { json.flag("isOwner") }
        var maySelect: Bool { json.flag("maySelect") }
        var hasPolicy: Bool { json.flag("hasPolicy") }
    }

    struct Slot: Sendable, Equatable {
        fileprivate let json: JSONValue

        var plugin: String { json.text("plugin") }
        var database: String { json.text("database") }
        /// The server process that uses the slot; nil if none does.
        var process: Int? { json.flag("active") ? json.integer("active_pid") : nil }
        var confirmed: LogPosition? { LogPosition(json.text("confirmed_flush_lsn")) }
        /// Whether the server has removed log that the slot requires.
        var isLost: Bool { json.text("wal_status") == "lost" || !json.text("invalidation_reason").isEmpty }
    }

    struct Publication: Sendable, Equatable {
        fileprivate let json: JSONValue
        let isOwner: Bool
        /// What it publishes of the table.
        fileprivate let table: JSONValue?

        /// Whether it publishes INSERT, UPDATE, DELETE and TRUNCATE.
        var isComplete: Bool {
            ["pubinsert", "pubupdate", "pubdelete", "pubtruncate"].allSatisfy { json.flag($0) }
        }
        var isViaRoot: Bool { json.flag("pubviaroot") }
        var hasTable: Bool { table != nil }
        /// The row filter, from PostgreSQL 15.
        var rowFilter: String? {
            let filter = table?.text("rowfilter") ?? ""
            return filter.isEmpty ? nil : filter
        }
        /// The published columns; nil: all that can be.
        var columns: [String]? {
            let names = table?.strings("attnames") ?? []
            return names.isEmpty ? nil : names
        }
    }
}

/// Reads members of the catalog's JSON. A member that is missing or of another type is read as the type's empty value.
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

    /// The strings of a list; an empty one for each element that is none.
    func strings(_ key: String) -> [String] {
        list(key).map { if case .string(let text) = $0 { text } else { "" } }
    }

    func list(_ key: String) -> [JSONValue] {
        if case .array(let values)? = member(key) { values } else { [] }
    }
}
