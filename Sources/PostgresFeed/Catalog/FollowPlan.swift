// SPDX-License-Identifier: MIT

/// Whether and how a table can be followed, found from the catalog without asking the server anything more.
struct FollowPlan: Sendable, Equatable {
    /// The server's, such as 150020 for 15.20.
    let version: Int
    let layout: TableLayout
    let table: Catalog.Table
    let fingerprint: UInt32
    /// The statements that make the publication ready; empty if it is.
    let publicationSQL: [String]
    /// The statement that copies the table.
    let copySQL: String

    /// - Throws: all problems that were found.
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
                version: catalog.version, layout: layout, table: table,
                fingerprint: layout.fingerprint(rowFilter: filter),
                publicationSQL: check.statements(),
                copySQL: CopyStatement.sql(layout, catalog, configuration, table: table, rowFilter: filter)))
    }
}

/// Why a table cannot be followed; at least one problem.
struct TableProblems: Error, Sendable, Equatable, CustomStringConvertible {
    let all: [TableProblem]

    init(_ problems: [TableProblem]) {
        all = problems.isEmpty ? [TableProblem(.table, "the table cannot be followed")] : problems
    }

    var description: String { all.map(\.description).joined(separator: ". ") }
}
