// SPDX-License-Identifier: MIT

/// Maps a layout's columns to their indexes in the rows of a replicated table.
struct RowMapping: Equatable {
    /// For each of `TableLayout.columns`, its index in a row; nil for generated columns.
    private let indexes: [Int?]
    /// For each of `TableLayout.inputs`, its index in a row.
    private let inputs: [Int?]

    /// Nil if the table's columns no longer match the layout.
    init?(_ table: ReplicatedTable, _ layout: TableLayout) {
        func index(_ name: String, _ type: UInt32, _ modifier: Int) -> Int? {
            table.columns.firstIndex { $0.name == name && $0.type == type && Int($0.modifier) == modifier }
        }
        let generated = Set(layout.generated.map { layout.columns[$0.index].name })
        var indexes: [Int?] = []
        for column in layout.columns {
            let found = generated.contains(column.name) ? nil : index(column.name, column.type, column.modifier)
            guard found != nil || generated.contains(column.name) else { return nil }
            indexes.append(found)
        }
        inputs = layout.inputs.map { index($0.name, $0.type, $0.modifier) }
        let known = Set(layout.columns.map(\.name))
        if inputs.contains(nil)
            || layout.takesAllColumns && !table.columns.allSatisfy({ known.contains($0.name) })
        {
            return nil
        }
        self.indexes = indexes
    }

    /// A row's values in the layout's order; those of generated columns are null.
    func values(_ row: [RowValue]) throws(PostgresDataError) -> [RowValue] {
        try Self.values(row, indexes)
    }

    /// The values from which generated columns are computed, in the order of `TableLayout.inputs`.
    func inputs(_ row: [RowValue]) throws(PostgresDataError) -> [RowValue] {
        try Self.values(row, inputs)
    }

    private static func values(_ row: [RowValue], _ indexes: [Int?]) throws(PostgresDataError) -> [RowValue] {
        guard indexes.allSatisfy({ $0 ?? -1 < row.count }) else {
            throw PostgresDataError("a row has fewer columns than its table")
        }
        return indexes.map { index in index.map { row[$0] } ?? .null }
    }
}
