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
    static func make(
        _ catalog: Catalog, _ configuration: TableFeedConfiguration
    ) -> Result<FollowPlan, TableProblems> {
        var problems = ServerCheck(catalog: catalog, configuration: configuration).problems()
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
                fingerprint: layout.fingerprint(rowFilter: filter),
                publicationSQL: check.statements(),
                copySQL: CopyStatement.sql(layout, catalog, configuration, table: table, rowFilter: filter)))
    }
}
