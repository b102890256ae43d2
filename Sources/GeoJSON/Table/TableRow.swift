// SPDX-License-Identifier: MIT
import JSON

/// A row of a table, lent to collectors while it is parsed.
public struct TableRow {
    public let header: TableHeader
    let cells: [TableCell]

    /// What a cell holds.
    public enum Value {
        case missing
        case number(Double)
        case bool(Bool)
        /// Valid during the call only.
        case text(UnsafeRawBufferPointer)
        /// A text that contained doubled quotation marks.
        case string(String)
    }

    /// The value of a column's cell. O(its text).
    public func value(_ column: Int) -> Value {
        let cell = cells[column]
        switch CellKind(cell, staysText: header.staysText[column]) {
        case .empty: return .missing
        case .number: return JSONText.number(cell.text).map { .number($0) } ?? .missing
        case .bool(let value): return .bool(value)
        case .text: return cell.hasDoubledQuotes ? .string(cell.string) : .text(cell.text)
        }
    }
}
