// SPDX-License-Identifier: MIT
import Glibc
import JSON
import SystemSupport

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

    /// Not written from now on.
    private let cells: PropertyCells
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
        for part in parts.dropFirst() {
            guard part.renumber(into: &strings, &others, isCancelled) else { return nil }
        }
        (self.cells, self.strings, self.others) = (cells, strings, others)
    }

    /// - Parameter cells: must not be written from then on.
    init(_ cells: PropertyCells, _ strings: StringPool, _ others: [JSONValue]) {
        (self.cells, self.strings, self.others) = (cells, strings, others)
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
        cells.fill(from: self.cells)
        var strings = strings
        var others = others
        for (index, row) in rows.prefix(values.count).enumerated() where Int(row) < count {
            var number = values.number(index)
            switch values.kind(index) {
            case .string:
                let code = values.strings.withText(Int(number)) { strings.code(adding: $0) }
                number = Double(code)
            case .other:
                others.append(values.others[Int(number)])
                number = Double(others.count - 1)
            default: break
            }
            cells.rows.set(Int(row), values.kind(index), number)
        }
        return PropertyColumn(cells, strings, others)
    }

    public var count: Int { cells.count }

    public var memoryBytes: Int {
        count * PropertyCells.bytesOfRow + strings.memoryBytes + others.count * MemoryLayout<JSONValue>.stride
    }

    @inline(__always) func kind(_ row: Int) -> Kind {
        precondition(row >= 0 && row < count, "the column has no such row")
        return cells.rows.kind(row)
    }

    /// A row's number; of a string its code, of other values their index.
    @inline(__always) func number(_ row: Int) -> Double {
        precondition(row >= 0 && row < count, "the column has no such row")
        return cells.rows.number(row)
    }

    /// Lends all rows during the call.
    @inline(__always) func withRows<Result>(_ body: (PropertyCells.Rows) -> Result) -> Result {
        withExtendedLifetime(cells) { body(cells.rows) }
    }

    /// A row's value; nil if the feature has no such property.
    public func value(_ row: Int) -> JSONValue? {
        switch kind(row) {
        case .missing: nil
        case .null: .null
        case .no: .bool(false)
        case .yes: .bool(true)
        case .number: .number(number(row))
        case .string: .string(strings[Int(number(row))])
        case .other: others[Int(number(row))]
        }
    }
}

/// The rows of one property: a kind and a number for each. Several threads may fill them, each its own part.
///
/// Invariant: `rows` refers to `count` rows during this object's lifetime. They have no value until written, except those that
/// `resize` added. Each row is written by one thread. No row is written after a `PropertyColumn` has been made from the cells, and
/// the cells are not resized from then on or while there are writers. Therefore `@unchecked Sendable` is sound.
public final class PropertyCells: @unchecked Sendable {
    private(set) var rows: Rows
    public private(set) var count: Int

    /// Rows of cells, without a reference to them.
    ///
    /// Invariant: both pointers refer to `count` values as long as the cells live and are not resized. Indexes are checked in debug
    /// builds. Threads use it as the cells permit, so it may be sent to others.
    struct Rows: @unchecked Sendable {
        fileprivate let kinds: UnsafeMutablePointer<UInt8>
        fileprivate let numbers: UnsafeMutablePointer<Double>
        fileprivate let count: Int

        @inline(__always) func kind(_ row: Int) -> PropertyColumn.Kind {
            assert(row >= 0 && row < count)
            return PropertyColumn.Kind(rawValue: kinds[row]) ?? .missing
        }

        /// A row's number; of a string its code, of other values their index.
        @inline(__always) func number(_ row: Int) -> Double {
            assert(row >= 0 && row < count)
            return numbers[row]
        }

        /// Whether a row has a kind.
        @inline(__always) func isKind(_ row: Int, _ kind: PropertyColumn.Kind) -> Bool {
            assert(row >= 0 && row < count)
            return kinds[row] == kind.rawValue
        }

        @inline(__always) func set(_ row: Int, _ kind: PropertyColumn.Kind, _ number: Double) {
            assert(row >= 0 && row < count)
            kinds[row] = kind.rawValue
            numbers[row] = number
        }

        /// Copies some rows of others.
        func copy(_ number: Int, from other: Rows, at first: Int = 0, to row: Int = 0) {
            assert(first + number <= other.count && row + number <= count)
            (kinds + row).update(from: other.kinds + first, count: number)
            (numbers + row).update(from: other.numbers + first, count: number)
        }
    }

    /// Bytes of one row.
    public static let bytesOfRow = MemoryLayout<UInt8>.stride + MemoryLayout<Double>.stride

    /// Rows without values. The system provides the memory as rows are written.
    public init(count: Int) {
        self.count = count
        // Zero is the kind of a row without a value.
        guard let kinds = calloc(max(count, 1), MemoryLayout<UInt8>.stride),
            let numbers = calloc(max(count, 1), MemoryLayout<Double>.stride)
        else { preconditionFailure("out of memory") }
        rows = Rows(
            kinds: kinds.bindMemory(to: UInt8.self, capacity: count),
            numbers: numbers.bindMemory(to: Double.self, capacity: count), count: count)
        LargePages.advise(UnsafeMutableBufferPointer(start: rows.numbers, count: count))
    }

    /// Makes room for more rows, whose values are undefined, or releases those past `count`. The system moves
    /// large blocks by remapping pages.
    func resize(to count: Int) {
        let kinds = LargePages.resize(rows.kinds, to: max(count, 1) * MemoryLayout<UInt8>.stride)
        let numbers = LargePages.resize(rows.numbers, to: max(count, 1) * MemoryLayout<Double>.stride)
        rows = Rows(
            kinds: kinds.bindMemory(to: UInt8.self, capacity: count),
            numbers: numbers.bindMemory(to: Double.self, capacity: count), count: count)
        self.count = count
    }

    /// Copies as many of other rows as fit. Allowed only before these cells are shared.
    func fill(from other: PropertyCells) { rows.copy(min(count, other.count), from: other.rows) }

    deinit {
        free(rows.kinds)
        free(rows.numbers)
    }
}

/// Properties of all features of a source, by name.
public struct FeatureColumns: Sendable {
    /// The rows of each column.
    public let count: Int
    private var columns: [Name: PropertyColumn] = [:]

    /// A name that is compared by its bytes.
    private struct Name: Hashable {
        let bytes: [UInt8]

        init(_ text: String) { bytes = Array(text.utf8) }
    }

    public init(count: Int) {
        self.count = count
    }

    /// Adds a column, which must have `count` rows.
    public mutating func add(_ name: String, _ column: PropertyColumn) {
        precondition(column.count == count, "all columns have the same rows")
        columns[Name(name)] = column
    }

    public func column(_ name: String) -> PropertyColumn? { columns[Name(name)] }

    public var memoryBytes: Int { columns.values.reduce(0) { $0 + $1.memoryBytes } }
}
