// SPDX-License-Identifier: MIT
import JSON

/// One property of all features of a source, decoded once: a kind and a number for each row. For a string the
/// number is its code, for other values their index.
///
/// It uses nine bytes per row, and stores each distinct string once.
public final class PropertyColumn: Sendable {
    /// The kind of a row's value.
    enum Kind: UInt8, Sendable {
        /// The feature has no such property. Cells have this kind before they are written.
        case missing = 0
        case null, no, yes, number, string, other
    }

    let kinds: CellValues<UInt8>
    /// Numbers; for strings their codes, for other values their indexes.
    let numbers: CellValues<Double>
    let strings: StringPool
    let others: [JSONValue]

    /// Makes a column from cells, which must not be written from then on.
    ///
    /// - Parameters:
    ///   - parts: the writers of the same cells, in the order of their rows.
    ///   - isCancelled: called after every few thousand different strings of a part.
    /// - Returns: nil if cancelled.
    public init?(_ parts: [PropertyColumnWriter], isCancelled: () -> Bool = { false }) {
        let cells = parts.first?.cells ?? PropertyCells(count: 0)
        var strings = parts.first?.strings ?? StringPool()
        var others = parts.first?.others ?? []
        for var part in parts.dropFirst() {
            guard part.renumber(into: &strings, &others, isCancelled) else { return nil }
        }
        kinds = cells.kindValues
        numbers = cells.numberValues
        self.strings = strings
        self.others = others
    }

    /// - Parameter cells: must not be written from then on.
    init(_ cells: PropertyCells, _ strings: StringPool, _ others: [JSONValue]) {
        kinds = cells.kindValues
        numbers = cells.numberValues
        self.strings = strings
        self.others = others
    }

    /// A copy of this column with other values in some rows.
    ///
    /// - Parameters:
    ///   - rows: the rows that change; those at or above `count` are ignored.
    ///   - values: their values, in the same order.
    ///   - count: the number of rows of the copy. Added rows that are not in `rows` have no value.
    /// - Complexity: O(`count`).
    public func changing(_ rows: [UInt32], to values: PropertyColumn, count: Int) -> PropertyColumn {
        let cells = PropertyCells(count: count)
        cells.fill(from: self)
        var strings = strings
        var others = others
        for (index, row) in rows.prefix(values.count).enumerated() where Int(row) < count {
            var number = values.numbers[index]
            switch Kind(rawValue: values.kinds[index]) {
            case .string:
                let code = values.strings.withText(Int(number)) { strings.code(adding: $0) }
                number = Double(code)
            case .other:
                others.append(values.others[Int(number)])
                number = Double(others.count - 1)
            default: break
            }
            cells.set(Int(row), values.kinds[index], number)
        }
        return PropertyColumn(cells, strings, others)
    }

    public var count: Int { kinds.count }

    public var memoryBytes: Int {
        kinds.count * (MemoryLayout<UInt8>.stride + MemoryLayout<Double>.stride) + strings.memoryBytes
            + others.count * MemoryLayout<JSONValue>.stride
    }

    /// A row's value; nil if the feature has no such property.
    public func value(_ row: Int) -> JSONValue? {
        switch Kind(rawValue: kinds[row]) {
        case .missing, nil: nil
        case .null: .null
        case .no: .bool(false)
        case .yes: .bool(true)
        case .number: .number(numbers[row])
        case .string: .string(strings[Int(numbers[row])])
        case .other: others[Int(numbers[row])]
        }
    }
}
