// SPDX-License-Identifier: MIT

/// Maps a layout's columns to their indexes in the rows of a replicated table.
struct RowMapping: Equatable {
    /// For each of `TableLayout.columns`, its index in a row; nil for generated columns.
    private let indexes: [Int?]
    /// For each of `TableLayout.inputs`, its index in a row.
    private let inputs: [Int]

    /// Nil if the table's columns no longer match the layout.
    init?(_ table: ReplicatedTable, _ layout: TableLayout) {
        func index(_ name: String, _ type: UInt32, _ modifier: Int) -> Int? {
            table.columns.firstIndex { $0.name == name && $0.type == type && Int($0.modifier) == modifier }
        }
        let generated = Set(layout.generated.map { layout.columns[$0.index].name })
        var indexes: [Int?] = []
        for column in layout.columns {
            let found =
                generated.contains(column.name) ? nil : index(column.name, column.type, column.modifier)
            guard found != nil || generated.contains(column.name) else { return nil }
            indexes.append(found)
        }
        var inputs: [Int] = []
        for input in layout.inputs {
            guard let found = index(input.name, input.type, input.modifier) else { return nil }
            inputs.append(found)
        }
        let known = Set(layout.columns.map(\.name))
        if layout.takesAllColumns && !table.columns.allSatisfy({ known.contains($0.name) }) { return nil }
        (self.indexes, self.inputs) = (indexes, inputs)
    }

    /// A row's values in the layout's order; those of generated columns are null.
    func values(_ row: [RowValue]) throws(PostgresDataError) -> [RowValue] {
        var values: [RowValue] = []
        values.reserveCapacity(indexes.count)
        for index in indexes {
            guard let index else {
                values.append(.null)
                continue
            }
            values.append(try Self.value(row, index))
        }
        return values
    }

    /// The values from which generated columns are computed, in the order of `TableLayout.inputs`.
    func inputs(_ row: [RowValue]) throws(PostgresDataError) -> [RowValue] {
        var values: [RowValue] = []
        for index in inputs { values.append(try Self.value(row, index)) }
        return values
    }

    private static func value(_ row: [RowValue], _ index: Int) throws(PostgresDataError) -> RowValue {
        guard index < row.count else { throw PostgresDataError("a row has fewer columns than its table") }
        return row[index]
    }
}

/// A column's value that outlives the message that contained it.
enum OwnedValue: Sendable, Equatable {
    case null
    case unchanged
    case text([UInt8])

    init(_ value: RowValue) {
        switch value {
        case .null: self = .null
        case .unchanged: self = .unchanged
        case .text(let text): self = .text(Array(text))
        }
    }

    var count: Int { if case .text(let text) = self { text.count } else { 0 } }

    /// Calls `body` with the values as a row, which is valid during the call.
    static func withRow<Result>(
        _ values: [OwnedValue],
        _ body: ([RowValue]) throws(PostgresDataError) -> Result
    ) throws(PostgresDataError) -> Result {
        // All texts are in one buffer, so that their slices are valid together.
        var bytes: [UInt8] = []
        for case .text(let text) in values { bytes += text }
        return try bytes.withBytes { (bytes) throws(PostgresDataError) in
            var offset = 0
            let row = values.map { value -> RowValue in
                switch value {
                case .null: return .null
                case .unchanged: return .unchanged
                case .text(let text):
                    defer { offset += text.count }
                    return .text(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + text.count]))
                }
            }
            return try body(row)
        }
    }
}
