// SPDX-License-Identifier: MIT

/// Finds problems with the server, the user's rights, the table or the slot.
struct ServerCheck {
    let catalog: Catalog
    let configuration: TableFeedConfiguration

    private var table: String { configuration.readableTable }
    private var user: String { SQLName.readable(catalog.user) }

    func problems() -> [TableProblem] { server() + rights() + tableProblems() + slot() }

    private func server() -> [TableProblem] {
        var problems: [TableProblem] = []
        if catalog.version < Self.oldestVersion {
            problems.append(
                TableProblem(
                    .version,
                    "the server is PostgreSQL \(catalog.version / 10000); following a table requires 12 or newer"
                ))
        }
        if catalog.isStandby {
            problems.append(
                TableProblem(
                    .standby,
                    "the server is a standby; connect to the primary, for several hosts by target_session_attrs=read-write"
                ))
        }
        if catalog.walLevel != "logical" {
            problems.append(
                TableProblem(
                    .walLevel,
                    "the server's wal_level is \(catalog.walLevel); logical replication requires logical",
                    sql: ["ALTER SYSTEM SET wal_level = 'logical';", "-- then restart the server"]))
        }
        return problems
    }

    private static let oldestVersion = 120_000

    private func rights() -> [TableProblem] {
        var problems: [TableProblem] = []
        if !catalog.mayReplicate { problems.append(Self.replicationRight(user: catalog.user)) }
        if catalog.schemaExists && !catalog.mayUseSchema {
            let schema = SQLName.readable(configuration.schema)
            problems.append(
                TableProblem(
                    .rights, "user \(catalog.user) may not use the schema \(schema)",
                    sql: ["GRANT USAGE ON SCHEMA \(schema) TO \(user);"]))
        }
        return problems
    }

    static func replicationRight(user: String) -> TableProblem {
        TableProblem(
            .rights, "user \(user) has no right to replicate",
            sql: ["ALTER ROLE \(SQLName.readable(user)) REPLICATION;"])
    }

    private func tableProblems() -> [TableProblem] {
        guard let found = catalog.table else {
            let missing =
                catalog.schemaExists ? "table \(table)" : "schema \(SQLName.readable(configuration.schema))"
            let advice =
                catalog.namesakes.isEmpty
                ? "" : "; did you mean \(catalog.namesakes.joined(separator: " or "))?"
            return [TableProblem(.table, "there is no \(missing) in database \(catalog.database)\(advice)")]
        }
        guard ["r", "p"].contains(found.kind) else {
            return [
                TableProblem(
                    .table, "\(table) is not a table; views and foreign tables have no changes to follow")
            ]
        }
        var problems: [TableProblem] = []
        if found.persistence != "p" {
            problems.append(
                TableProblem(
                    .table, "\(table) is unlogged or temporary, so that its changes are not in the log",
                    sql: found.persistence == "u" ? ["ALTER TABLE \(table) SET LOGGED;"] : []))
        }
        if !found.maySelect, catalog.columns.allSatisfy({ !$0.maySelect }) {
            problems.append(
                TableProblem(
                    .rights, "user \(catalog.user) may not read \(table)",
                    sql: ["GRANT SELECT ON \(table) TO \(user);"]))
        }
        if found.hasPolicy {
            problems.append(
                TableProblem(
                    .rights,
                    "a row security policy hides rows of \(table) from user \(catalog.user), but changes of all rows are replicated",
                    sql: ["ALTER ROLE \(user) BYPASSRLS;"]))
        }
        return problems
    }

    private func slot() -> [TableProblem] {
        let name = configuration.slotName
        guard SlotName.isValid(name) else {
            return [
                TableProblem(
                    .slot,
                    "\"\(name)\" cannot name a slot: use lower-case letters, digits and underscores, at most 63"
                )
            ]
        }
        guard let slot = catalog.slot else {
            guard catalog.slotCount >= catalog.slotLimit else { return [] }
            return [
                TableProblem(
                    .slot, "all \(catalog.slotLimit) replication slots of the server are in use",
                    sql: [
                        "ALTER SYSTEM SET max_replication_slots = \(catalog.slotLimit + 10);",
                        "-- then restart the server",
                    ])
            ]
        }
        if slot.plugin != "pgoutput" || slot.database != catalog.database {
            return [
                TableProblem(
                    .slot,
                    "slot \(name) belongs to something else (plugin \(slot.plugin), database \(slot.database)); name another "
                        + "as \"slot\"")
            ]
        }
        return []
    }
}
