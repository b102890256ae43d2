// SPDX-License-Identifier: MIT
import JSON

/// Fills a property's cells row by row, and collects the values to which their numbers refer.
///
/// Invariant: only this writer writes the cells' rows from its first to `end`, and `cells` keeps `rows` valid. A copy must not be
/// used beside the original. Therefore it may be passed between threads.
public struct PropertyColumnWriter: Sendable {
    private(set) var cells: PropertyCells
    private let first: Int
    private var end: Int
    /// Whether the cells get more rows as needed.
    private let grows: Bool
    private var rows: PropertyCells.Rows
    /// The next row.
    private(set) var row: Int
    private(set) var strings = StringPool()
    private(set) var others: [JSONValue] = []

    /// A writer of some of the cells' rows; further rows are ignored. Several writers may write the same cells.
    ///
    /// - Parameter rows: rows outside the cells are ignored. No other writer may have any of them.
    public init(filling rows: Range<Int>, of cells: PropertyCells) {
        self.init(cells, rows.clamped(to: 0..<cells.count), grows: false)
    }

    /// A writer of cells of its own, as many as rows are appended.
    public init(capacity: Int = 0) {
        let cells = PropertyCells(count: max(capacity, 16))
        self.init(cells, 0..<cells.count, grows: true)
    }

    private init(_ cells: PropertyCells, _ rows: Range<Int>, grows: Bool) {
        (self.cells, self.grows) = (cells, grows)
        (first, row, end) = (rows.lowerBound, rows.lowerBound, rows.upperBound)
        self.rows = cells.rows
    }

    /// The number of rows appended.
    public var count: Int { row - first }

    /// Bytes of the values that the rows refer to: strings, arrays and objects.
    public var valueBytes: Int { strings.memoryBytes + others.count * MemoryLayout<JSONValue>.stride }

    /// The memory of all rows in bytes, without spare capacity.
    public var memoryBytes: Int { count * PropertyCells.bytesOfRow + valueBytes }

    @inline(__always) private mutating func add(_ kind: PropertyColumn.Kind, _ number: Double = 0) {
        if row >= end {
            guard grows else { return }
            resize(to: end + end / 2)
        }
        rows.set(row, kind, number)
        row &+= 1
    }

    private mutating func resize(to rows: Int) {
        cells.resize(to: rows)
        (self.rows, end) = (cells.rows, rows)
    }

    public mutating func appendMissing() { add(.missing) }
    public mutating func appendNull() { add(.null) }
    public mutating func append(_ flag: Bool) { add(flag ? .yes : .no) }
    public mutating func append(_ number: Double) { add(.number, number) }

    /// Appends a string by its UTF-8.
    public mutating func append(utf8: LentBytes) { add(.string, Double(strings.code(adding: utf8))) }

    public mutating func append(utf8: UnsafeRawBufferPointer) { append(utf8: LentBytes(utf8)) }

    public mutating func append(_ value: JSONValue) {
        switch value {
        case .null: appendNull()
        case .bool(let flag): append(flag)
        case .number(let number): append(number)
        case .string(let text): text.lendUTF8 { append(utf8: $0) }
        case .array, .object:
            add(.other, Double(others.count))
            others.append(value)
        }
    }

    /// Appends all rows of another writer to one that grows.
    public mutating func append(contentsOf other: PropertyColumnWriter) {
        if row + other.count > end { resize(to: max(row + other.count, end + end / 2)) }
        rows.copy(other.count, from: other.rows, at: other.first, to: row)
        row += other.count
        guard let change = other.merge(into: &strings, &others, { false }) else { return }
        renumber(row - other.count..<row, change)
    }

    /// Removes all rows, but keeps their memory.
    public mutating func removeAll() {
        row = first
        if strings.count > 0 { strings = StringPool() }
        others.removeAll()
    }

    /// Returns the column of all rows of a writer that grows. The writer must not be used afterwards.
    public mutating func finish() -> PropertyColumn {
        cells.resize(to: count)
        return PropertyColumn(cells, strings, others)
    }

    /// Replaces the numbers of strings and other values by those that they have in the whole column.
    ///
    /// - Returns: false if cancelled; then no number has been replaced.
    func renumber(
        into strings: inout StringPool, _ others: inout [JSONValue], _ isCancelled: () -> Bool
    ) -> Bool {
        guard let change = merge(into: &strings, &others, isCancelled) else { return false }
        renumber(first..<row, change)
        return true
    }

    /// The codes of strings, and what to add to the numbers of other values.
    private typealias Renumbering = (codes: [Double], base: Double)

    /// Adds the values to those of another column; nil if cancelled.
    private func merge(
        into strings: inout StringPool, _ others: inout [JSONValue], _ isCancelled: () -> Bool
    ) -> Renumbering? {
        var codes: [Double] = []
        codes.reserveCapacity(self.strings.count)
        for code in 0..<self.strings.count {
            if code & 0xfff == 0, isCancelled() { return nil }
            codes.append(self.strings.withText(code) { Double(strings.code(adding: $0)) })
        }
        defer { others.append(contentsOf: self.others) }
        return (codes, Double(others.count))
    }

    private func renumber(_ rows: Range<Int>, _ change: Renumbering) {
        guard !change.codes.isEmpty || !others.isEmpty else { return }
        for row in rows {
            let number = self.rows.number(row)
            switch self.rows.kind(row) {
            case .string: self.rows.set(row, .string, change.codes[Int(number)])
            case .other: self.rows.set(row, .other, number + change.base)
            default: break
            }
        }
    }
}
