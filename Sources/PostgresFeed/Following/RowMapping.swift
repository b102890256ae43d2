// SPDX-License-Identifier: MIT

/// Where a layout's columns are in the rows of a replicated table.
struct RowMapping: Equatable {
    /// For each of `TableLayout.columns`, its index in a row.
    private let indexes: [Int]

    /// Nil if the table's columns are not those of the layout any more.
    init?(_ table: ReplicatedTable, _ layout: TableLayout) {
        var indexes: [Int] = []
        for column in layout.columns {
            let index = table.columns.firstIndex {
                $0.name == column.name && $0.type == column.type && Int($0.modifier) == column.modifier
            }
            guard let index else { return nil }
            indexes.append(index)
        }
        if layout.takesAllColumns && table.columns.count != indexes.count { return nil }
        self.indexes = indexes
    }

    /// A row's values in the layout's order.
    func values(_ row: [RowValue]) throws(PostgresDataError) -> [RowValue] {
        var values: [RowValue] = []
        values.reserveCapacity(indexes.count)
        for index in indexes {
            guard index < row.count else { throw PostgresDataError("a row has fewer columns than its table") }
            values.append(row[index])
        }
        return values
    }
}
