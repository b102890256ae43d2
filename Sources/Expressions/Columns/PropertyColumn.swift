// SPDX-License-Identifier: MIT
import JSON

/// One property of all features of a source, decoded once: for each row a kind and a number, a string's code
/// or another value's place.
///
/// Nine bytes a row, and each different string once.
public final class PropertyColumn: Sendable {
    /// What a row has.
    enum Kind: UInt8, Sendable {
        /// What cells are before they are written.
        case missing = 0
        case null, no, yes, number, string, other
    }

    let kinds: CellValues<UInt8>
    /// Numbers; for strings their code, for other values their place.
    let numbers: CellValues<Double>
    let strings: StringPool
    let others: [JSONValue]

    /// A column of what was written, which nobody may write from now on.
    ///
    /// - Parameter parts: of the same cells, in the rows' order.
    public init(_ parts: [PropertyColumnWriter]) {
        let cells = parts.first?.cells ?? PropertyCells(count: 0)
        var strings = parts.first?.strings ?? StringPool()
        var others = parts.first?.others ?? []
        for var part in parts.dropFirst() { part.renumber(into: &strings, &others) }
        kinds = cells.kindValues
        numbers = cells.numberValues
        self.strings = strings
        self.others = others
    }

    /// - Parameter cells: which nobody writes from now on.
    init(_ cells: PropertyCells, _ strings: StringPool, _ others: [JSONValue]) {
        kinds = cells.kindValues
        numbers = cells.numberValues
        self.strings = strings
        self.others = others
    }

    /// The column with other values in some rows.
    ///
    /// - Parameters:
    ///   - rows: the rows, below `count`; the rest is left out.
    ///   - values: what they have, in the same order.
    ///   - count: how many rows it has; of those that come in addition, what `rows` does not name is missing.
    /// - Complexity: O(all rows), a copy.
    public func changing(_ rows: [UInt32], to values: PropertyColumn, count: Int) -> PropertyColumn {
        let cells = PropertyCells(count: count)
        cells.fill(from: self)
        var strings = strings
        var others = others
        for (place, row) in rows.prefix(values.count).enumerated() where Int(row) < count {
            var number = values.numbers[place]
            switch Kind(rawValue: values.kinds[place]) {
            case .string:
                let code = values.strings.withText(Int(number)) { strings.code(adding: $0) }
                number = Double(code)
            case .other:
                others.append(values.others[Int(number)])
                number = Double(others.count - 1)
            default: break
            }
            cells.set(Int(row), values.kinds[place], number)
        }
        return PropertyColumn(cells, strings, others)
    }

    public var count: Int { kinds.count }

    public var memoryBytes: Int {
        kinds.count * (MemoryLayout<UInt8>.stride + MemoryLayout<Double>.stride) + strings.memoryBytes
            + others.count * MemoryLayout<JSONValue>.stride
    }

    /// A row's value; nil where the feature has none of this name.
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
