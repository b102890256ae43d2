// SPDX-License-Identifier: MIT

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
