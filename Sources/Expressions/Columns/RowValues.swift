// SPDX-License-Identifier: MIT
import JSON

/// The values of an expression for rows.
public struct RowValues: Sendable {
    /// The kind of a row's value.
    public enum Kind: UInt8, Sendable {
        case null, number
        /// A value in `others`, at the index stored in `numbers`.
        case other
    }

    public internal(set) var kinds: [Kind] = []
    public internal(set) var numbers: [Double] = []
    /// Values that are neither numbers nor null; most occur only once.
    public internal(set) var others: [JSONValue] = []
    /// The number of rows with each evaluation error, by message. Such rows are null.
    public internal(set) var errors: [String: Int] = [:]

    public var count: Int { kinds.count }

    public func value(_ index: Int) -> JSONValue {
        switch kinds[index] {
        case .null: .null
        case .number: .number(numbers[index])
        case .other: others[Int(numbers[index])]
        }
    }

    init(capacity: Int) {
        kinds.reserveCapacity(capacity)
        numbers.reserveCapacity(capacity)
    }

    mutating func append(_ kind: Kind, _ number: Double = 0) {
        kinds.append(kind)
        numbers.append(number)
    }

    /// The values of a column for rows.
    init(_ column: PropertyColumn, _ rows: [UInt32]) {
        self.init(capacity: rows.count)
        let strings = column.strings.count
        others =
            (0..<strings).map { .string(column.strings[$0]) } + [.bool(false), .bool(true)] + column.others
        for row in rows {
            let number = column.numbers[Int(row)]
            switch PropertyColumn.Kind(rawValue: column.kinds[Int(row)]) {
            case .number where !number.isNaN: append(.number, number)
            case .string: append(.other, number)
            case .no: append(.other, Double(strings))
            case .yes: append(.other, Double(strings + 1))
            case .other: append(.other, number + Double(strings + 2))
            default: append(.null)
            }
        }
    }
}
