// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Finds problems with the server, the user's rights, the table or the slot.
struct ServerCheck {
    private let catalog: Catalog
    private let configuration: TableFeedConfiguration
    private(set) var problems: [TableProblem] = []

    private var table: String { configuration.readableTable }
    private var user: String { SQLName.readable(catalog.user) }

    init(_ catalog: Catalog, _ configuration: TableFeedConfiguration) {
        (self.catalog, self.configuration) = (catalog, configuration)
        checkServer()
        checkRights()
        checkTable()
        checkSlot()
    }

    private mutating func checkServer() {
        if catalog.version < Self.oldestVersion {
            problems.add(
                .version,
                "the server is PostgreSQL \(catalog.version / 10000); following a table requires 12 or newer")
        }
        if catalog.isStandby {
            problems.add(
                .standby,
                "the server is a standby; connect to the primary, for several hosts by "
                    + "target_session_attrs=read-write")
        }
        if catalog.walLevel != "logical" {
            problems.add(
                .walLevel,
                "the server's wal_level is \(catalog.walLevel); logical replication requires logical",
                sql: ["ALTER SYSTEM SET wal_level = 'logical';", "-- then restart the server"])
        }
    }

    private static let oldestVersion = 120_000

    private mutating func checkRights() {
        if !catalog.mayReplicate { problems.append(Self.replicationRight(user: catalog.user)) }
        if catalog.schemaExists && !catalog.mayUseSchema {
            let schema = SQLName.readable(configuration.schema)
            problems.add(
                .rights, "user \(catalog.user) may not use the schema \(schema)",
                sql: ["GRANT USAGE ON SCHEMA \(schema) TO \(user);"])
        }
    }

    static func replicationRight(user: String) -> TableProblem {
        TableProblem(
            .rights, "user \(user) has no right to replicate",
            sql: ["ALTER ROLE \(SQLName.readable(user)) REPLICATION;"])
    }

    private mutating func checkTable() {
        guard let found = catalog.table else {
            let missing = catalog.schemaExists ? "table \(table)" : "schema \(SQLName.readable(configuration.schema))"
            let advice =
                catalog.namesakes.isEmpty
                ? "" : "; did you mean \(catalog.namesakes.joined(separator: " or "))?"
            return problems.add(.table, "there is no \(missing) in database \(catalog.database)\(advice)")
        }
        guard ["r", "p"].contains(found.kind) else {
            return problems.add(
                .table, "\(table) is not a table; views and foreign tables have no changes to follow")
        }
        if found.persistence != "p" {
            problems.add(
                .table, "\(table) is unlogged or temporary, so that its changes are not in the log",
                sql: found.persistence == "u" ? ["ALTER TABLE \(table) SET LOGGED;"] : [])
        }
        if !found.maySelect, catalog.columns.allSatisfy({ !$0.maySelect }) {
            problems.add(
                .rights, "user \(catalog.user) may not read \(table)",
                sql: ["GRANT SELECT ON \(table) TO \(user);"])
        }
        if found.hasPolicy {
            problems.add(
                .rights,
                "a row security policy hides rows of \(table) from user \(catalog.user), but changes of all rows are replicated",
                sql: ["ALTER ROLE \(user) BYPASSRLS;"])
        }
    }

    private mutating func checkSlot() {
        let name = configuration.slotName
        guard SlotName.isValid(name) else {
            return problems.add(
                .slot, "\"\(name)\" cannot name a slot: use lower-case letters, digits and underscores, at most 63")
        }
        guard let slot = catalog.slot else {
            guard catalog.slotCount >= catalog.slotLimit else { return }
            return problems.add(
                .slot, "all \(catalog.slotLimit) replication slots of the server are in use",
                sql: [
                    "ALTER SYSTEM SET max_replication_slots = \(catalog.slotLimit + 10);",
                    "-- then restart the server",
                ])
        }
        if slot.plugin != "pgoutput" || slot.database != catalog.database {
            problems.add(
                .slot,
                "slot \(name) belongs to something else (plugin \(slot.plugin), database \(slot.database)); name another "
                    + "as \"slot\"")
        }
    }
}

/// Makes and checks names of replication slots: lower-case letters, digits and underscores, at most 63 bytes.
public enum SlotName {
    /// The machine's id (machine-id(5)); if it has none, a number derived from its host name.
    public static let machineID: String = {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard let bytes = try? FileIO.contents(of: path) else { continue }
            let text = String(decoding: bytes, as: UTF8.self).prefix { $0.isHexDigit }
            if text.count >= 8 { return text.lowercased() }
        }
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return hash(
            String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), digits: 16
        )
    }()

    /// The default name of a source's slot: the same after every start, and different for each machine, state
    /// directory and source.
    ///
    /// - Parameters:
    ///   - label: a part that people recognise; characters that a slot's name cannot contain become underscores.
    ///   - scope: a text that distinguishes slots of one machine.
    public static func standard(machine: String, label: String, scope: String) -> String {
        let readable = label.lowercased().utf8.prefix(14).map { byte in
            let character = String(UnicodeScalar(byte))
            return byte < 0x80 && SQLName.isSimple(character) ? character : "_"
        }
        let name = "clusterd_\(machine.prefix(32))_" + readable.joined()
        return name + "_" + hash(label + "\0" + scope, digits: 6)
    }

    /// Whether a server accepts the name.
    public static func isValid(_ name: String) -> Bool {
        (1...63).contains(name.utf8.count) && SQLName.isSimple(name)
    }

    /// The last digits of the FNV-1a hash (64 bits) of a text.
    private static func hash(_ text: String, digits: Int) -> String {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let text = String(value, radix: 16)
        return String((String(repeating: "0", count: 16 - text.count) + text).suffix(digits))
    }
}

/// Finds problems with the publication, and the SQL that makes it ready if the rights suffice.
struct PublicationCheck {
    let catalog: Catalog
    let configuration: TableFeedConfiguration
    let table: Catalog.Table

    private var name: String { SQLName.readable(configuration.publicationName) }
    private var tableName: String { configuration.readableTable }
    /// Whether the table is partitioned. Changes of partitions must then be published as changes of the
    /// partitioned table.
    private var isPartitioned: Bool { table.kind == "p" }

    /// The problems that the feed may not solve by itself.
    func problems() -> [TableProblem] {
        let required = statements()
        guard !required.isEmpty else { return [] }
        if catalog.publication == nil {
            if table.isOwner && catalog.mayCreate { return [] }
            return [
                TableProblem(
                    .publication,
                    "there is no publication \(name), and user \(catalog.user) may not create it: that takes the right CREATE "
                        + "on the database and the table's owner", sql: required)
            ]
        }
        if catalog.publication?.isOwner == true && table.isOwner { return [] }
        return [
            TableProblem(
                .publication,
                "publication \(name) does not publish all changes of \(tableName), and user \(catalog.user) may not alter it",
                sql: required)
        ]
    }

    /// The statements that create or complete the publication.
    func statements() -> [String] {
        guard let publication = catalog.publication else {
            let options = isPartitioned ? " WITH (publish_via_partition_root = true)" : ""
            return ["CREATE PUBLICATION \(name) FOR TABLE \(tableName)\(options);"]
        }
        var statements: [String] = []
        if !publication.hasTable { statements.append("ALTER PUBLICATION \(name) ADD TABLE \(tableName);") }
        if !publication.isComplete {
            statements.append("ALTER PUBLICATION \(name) SET (publish = 'insert, update, delete, truncate');")
        }
        if isPartitioned && !publication.isViaRoot {
            statements.append("ALTER PUBLICATION \(name) SET (publish_via_partition_root = true);")
        }
        return statements
    }
}
