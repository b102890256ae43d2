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
            cells.set(Int(row), values.kind(index), number)
        }
        return PropertyColumn(cells, strings, others)
    }

    public var count: Int { cells.count }

    public var memoryBytes: Int {
        count * PropertyCells.bytesOfRow + strings.memoryBytes + others.count * MemoryLayout<JSONValue>.stride
    }

    @inline(__always) func kind(_ row: Int) -> Kind {
        precondition(row >= 0 && row < count, "the column has no such row")
        return Kind(rawValue: cells.kinds[row]) ?? .missing
    }

    /// A row's number; of a string its code, of other values their index.
    @inline(__always) func number(_ row: Int) -> Double {
        precondition(row >= 0 && row < count, "the column has no such row")
        return cells.numbers[row]
    }

    /// Lends the raw values of the rows' kinds, and their numbers.
    @inline(__always) func withRows<Result>(
        _ body: (_ kinds: Span<UInt8>, _ numbers: Span<Double>) -> Result
    ) -> Result {
        withExtendedLifetime(cells) {
            body(
                UnsafeBufferPointer(start: cells.kinds, count: count).span,
                UnsafeBufferPointer(start: cells.numbers, count: count).span)
        }
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
/// Invariant: both pointers refer to `count` values during this object's lifetime. The values are zero until
/// written. Each row is written by one thread, and none after a `PropertyColumn` has been made from the cells.
/// Therefore `@unchecked Sendable` is sound.
public final class PropertyCells: @unchecked Sendable {
    let kinds: UnsafeMutablePointer<UInt8>
    let numbers: UnsafeMutablePointer<Double>
    public let count: Int

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
        LargePages.advise(UnsafeMutableBufferPointer(start: self.kinds, count: count))
        LargePages.advise(UnsafeMutableBufferPointer(start: self.numbers, count: count))
    }

    /// Copies as many of other rows as fit. Allowed only before these cells are shared.
    func fill(from other: PropertyCells) {
        kinds.update(from: other.kinds, count: min(count, other.count))
        numbers.update(from: other.numbers, count: min(count, other.count))
    }

    /// Writes a row. Allowed only before these cells are shared.
    func set(_ row: Int, _ kind: PropertyColumn.Kind, _ number: Double) {
        precondition(row >= 0 && row < count, "there is no such row")
        kinds[row] = kind.rawValue
        numbers[row] = number
    }

    deinit {
        free(kinds)
        free(numbers)
    }
}

/// Fills a property's cells row by row, and collects the values to which their numbers refer.
///
/// Invariant: the pointers refer to the cells' rows, only this writer writes those from its first to `end`, and
/// `cells` keeps them valid. A copy must not be used beside the original. Therefore it may be passed between
/// threads, and `@unchecked Sendable` is sound.
public struct PropertyColumnWriter: @unchecked Sendable {
    let cells: PropertyCells
    private let first: Int
    private let end: Int
    private let kinds: UnsafeMutablePointer<UInt8>
    private let numbers: UnsafeMutablePointer<Double>
    /// The next row.
    private(set) var row: Int
    private(set) var strings = StringPool()
    private(set) var others: [JSONValue] = []

    /// A writer of some of the cells' rows; further rows are ignored. Several writers may write the same cells.
    ///
    /// - Parameter rows: rows outside the cells are ignored. No other writer may have any of them.
    public init(filling rows: Range<Int>, of cells: PropertyCells) {
        let rows = rows.clamped(to: 0..<cells.count)
        self.cells = cells
        (first, row, end) = (rows.lowerBound, rows.lowerBound, rows.upperBound)
        (kinds, numbers) = (cells.kinds, cells.numbers)
    }

    /// A writer of cells of its own.
    public init(rows count: Int) { self.init(filling: 0..<count, of: PropertyCells(count: count)) }

    /// The column of the cells, if no other writer has any. The writer must not be used afterwards.
    public func finish() -> PropertyColumn { PropertyColumn(cells, strings, others) }

    /// Bytes of the values that the rows refer to: strings, arrays and objects.
    public var valueBytes: Int { strings.memoryBytes + others.count * MemoryLayout<JSONValue>.stride }

    @inline(__always) private mutating func add(_ kind: PropertyColumn.Kind, _ number: Double = 0) {
        guard row < end else { return }
        kinds[row] = kind.rawValue
        numbers[row] = number
        row &+= 1
    }

    public mutating func appendMissing() { add(.missing) }
    public mutating func appendNull() { add(.null) }
    public mutating func append(_ flag: Bool) { add(flag ? .yes : .no) }
    public mutating func append(_ number: Double) { add(.number, number) }

    /// Appends a string by its UTF-8.
    public mutating func append(utf8: UnsafeRawBufferPointer) {
        add(.string, Double(strings.code(adding: utf8)))
    }

    public mutating func append(_ value: JSONValue) {
        switch value {
        case .null: appendNull()
        case .bool(let flag): append(flag)
        case .number(let number): append(number)
        case .string(var text): text.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
        case .array, .object:
            add(.other, Double(others.count))
            others.append(value)
        }
    }

    /// Adds the values to those of another column, and replaces the rows' numbers by those that the values have there.
    ///
    /// - Returns: false if cancelled; then no number has been replaced.
    func renumber(into strings: inout StringPool, _ others: inout [JSONValue], _ isCancelled: () -> Bool) -> Bool {
        var codes: [Double] = []
        codes.reserveCapacity(self.strings.count)
        for code in 0..<self.strings.count {
            if code & 0xfff == 0, isCancelled() { return false }
            codes.append(self.strings.withText(code) { Double(strings.code(adding: $0)) })
        }
        let base = Double(others.count)
        others.append(contentsOf: self.others)
        guard !codes.isEmpty || !self.others.isEmpty else { return true }
        for row in first..<row {
            switch PropertyColumn.Kind(rawValue: kinds[row]) {
            case .string: numbers[row] = codes[Int(numbers[row])]
            case .other: numbers[row] += base
            default: break
            }
        }
        return true
    }
}
