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

/// The rows of one property: a kind and a number for each. Several threads may fill them, each its own part.
///
/// Invariant: both pointers refer to `count` values during this object's lifetime. The values are zero until
/// written, except those that `resize` added. Each row is written by one thread. No row is written after a
/// `PropertyColumn` has been made from the cells, and the cells are not resized from then on or while there
/// are writers. Therefore `@unchecked Sendable` is sound.
public final class PropertyCells: @unchecked Sendable {
    private(set) var kinds: UnsafeMutablePointer<UInt8>
    private(set) var numbers: UnsafeMutablePointer<Double>
    public private(set) var count: Int

    /// Bytes of one row.
    public static let bytesOfRow = MemoryLayout<UInt8>.stride + MemoryLayout<Double>.stride

    /// Rows without values. The system provides the memory as rows are written.
    public init(count: Int) {
        self.count = count
        // Zero is the kind of a row without a value.
        guard let kinds = calloc(max(count, 1), MemoryLayout<UInt8>.stride),
            let numbers = calloc(max(count, 1), MemoryLayout<Double>.stride)
        else { preconditionFailure("out of memory") }
        self.kinds = kinds.bindMemory(to: UInt8.self, capacity: count)
        self.numbers = numbers.bindMemory(to: Double.self, capacity: count)
        LargePages.advise(UnsafeMutableBufferPointer(start: self.numbers, count: count))
    }

    /// Makes room for more rows, whose values are undefined, or releases those past `count`. The system moves
    /// large blocks by remapping pages.
    func resize(to count: Int) {
        kinds = LargePages.resize(kinds, to: max(count, 1) * MemoryLayout<UInt8>.stride)
            .bindMemory(to: UInt8.self, capacity: count)
        numbers = LargePages.resize(numbers, to: max(count, 1) * MemoryLayout<Double>.stride)
            .bindMemory(to: Double.self, capacity: count)
        self.count = count
    }

    /// Copies as many of a column's rows as fit. Allowed only before these cells are shared.
    func fill(from column: PropertyColumn) {
        let most = min(count, column.count)
        column.kinds.withUnsafeBufferPointer { old in
            if let old = old.baseAddress { kinds.update(from: old, count: most) }
        }
        column.numbers.withUnsafeBufferPointer { old in
            if let old = old.baseAddress { numbers.update(from: old, count: most) }
        }
    }

    /// Writes a row. Allowed only before these cells are shared.
    func set(_ row: Int, _ kind: UInt8, _ number: Double) {
        precondition(row >= 0 && row < count, "there is no such row")
        kinds[row] = kind
        numbers[row] = number
    }

    deinit {
        free(kinds)
        free(numbers)
    }
}

/// The kinds or numbers of a finished column's rows.
///
/// Invariant: `base` refers to `count` values that are no longer written, and `owner` keeps them alive.
/// Therefore `@unchecked Sendable` is sound.
struct CellValues<Element: BitwiseCopyable & Sendable>: RandomAccessCollection, @unchecked Sendable {
    private let base: UnsafePointer<Element>
    let count: Int
    private let owner: PropertyCells

    fileprivate init(_ base: UnsafeMutablePointer<Element>, _ owner: PropertyCells) {
        self.base = UnsafePointer(base)
        count = owner.count
        self.owner = owner
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(row: Int) -> Element {
        precondition(row >= 0 && row < count, "the column has no such row")
        return base[row]
    }

    func withUnsafeBufferPointer<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(owner) {} }
        return try body(UnsafeBufferPointer(start: base, count: count))
    }
}

extension PropertyCells {
    var kindValues: CellValues<UInt8> { CellValues(kinds, self) }
    var numberValues: CellValues<Double> { CellValues(numbers, self) }
}
