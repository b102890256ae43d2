// SPDX-License-Identifier: MIT

/// The statement that copies a table's rows.
enum CopyStatement {
    /// A binary COPY of each column's text. Logical replication sends the same text, so both produce the same
    /// features. Only the geometry is binary: its text is the same bytes in hexadecimal.
    static func sql(
        _ layout: TableLayout, _ catalog: Catalog, _ configuration: TableFeedConfiguration,
        table: Catalog.Table,
        rowFilter: String?
    ) -> String {
        let columns = layout.columns.enumerated().map { index, column in
            if case .geometry = layout.position, index == 1 { return SQLName.quote(column.name) }
            return text(column, catalog.types)
        }.joined(separator: ", ")
        // Inheriting tables are published under their own names, partitions under the root's name.
        let only = table.kind == "p" ? "" : "ONLY "
        let condition = rowFilter.map { " WHERE \($0)" } ?? ""
        return
            "COPY (SELECT \(columns) FROM \(only)\(configuration.qualifiedTable)\(condition)) TO STDOUT (FORMAT binary)"
    }

    private static func text(_ column: TableLayout.Column, _ types: TypeCatalog) -> String {
        text(SQLName.quote(column.name), castsToOutput: types.castsToOutput(column.type))
    }

    /// - Parameters:
    ///   - name: SQL for the value.
    ///   - castsToOutput: whether a cast to text returns the same as the output function.
    static func text(_ name: String, castsToOutput: Bool) -> String {
        if castsToOutput { return name + "::pg_catalog.text" }
        // Types with their own cast to text may look different when cast. `format` uses the output function.
        return "CASE WHEN \(name) IS NOT NULL THEN pg_catalog.format('%s', \(name)) END"
    }
}
