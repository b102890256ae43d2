// SPDX-License-Identifier: MIT
import JSON

/// Fills a column row by row; it grows as needed. Not safe for use by several threads at once.
///
/// Invariant: `kinds` and `numbers` point to the memory of `cells`, which have `capacity` rows and are not
/// shared.
public final class PropertyColumnBuilder {
    private var cells: PropertyCells
    private var kinds: UnsafeMutablePointer<UInt8>
    private var numbers: UnsafeMutablePointer<Double>
    private var capacity: Int
    public private(set) var count = 0
    private var strings = StringPool()
    private var others: [JSONValue] = []

    public init(capacity: Int = 0) {
        self.capacity = max(capacity, 16)
        cells = PropertyCells(count: self.capacity)
        kinds = cells.kinds
        numbers = cells.numbers
    }

    /// The memory of all rows in bytes, without spare capacity.
    public var memoryBytes: Int {
        count * (MemoryLayout<UInt8>.stride + MemoryLayout<Double>.stride) + strings.memoryBytes
            + others.count * MemoryLayout<JSONValue>.stride
    }

    @inline(__always) private func add(_ kind: PropertyColumn.Kind, _ number: Double = 0) {
        if count == capacity { resize(to: capacity + capacity / 2) }
        kinds[count] = kind.rawValue
        numbers[count] = number
        count &+= 1
    }

    private func resize(to rows: Int) {
        cells.resize(to: rows)
        kinds = cells.kinds
        numbers = cells.numbers
        capacity = rows
    }

    public func appendMissing() { add(.missing) }
    public func append(_ number: Double) { add(.number, number) }

    /// Appends a string by its UTF-8.
    public func append(utf8: UnsafeRawBufferPointer) { add(.string, Double(strings.code(adding: utf8))) }

    public func append(_ value: JSONValue) {
        switch value {
        case .null: add(.null)
        case .bool(let flag): add(flag ? .yes : .no)
        case .number(let number): append(number)
        case .string(var text): text.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
        case .array, .object:
            add(.other, Double(others.count))
            others.append(value)
        }
    }

    /// Appends all rows of another builder.
    public func append(contentsOf other: PropertyColumnBuilder) {
        let first = count
        if count + other.count > capacity { resize(to: max(count + other.count, capacity + capacity / 2)) }
        (kinds + count).update(from: other.kinds, count: other.count)
        (numbers + count).update(from: other.numbers, count: other.count)
        count += other.count
        guard other.strings.count > 0 || !other.others.isEmpty else { return }
        let codes = (0..<other.strings.count).map { code in
            other.strings.withText(code) { Double(strings.code(adding: $0)) }
        }
        let base = Double(others.count)
        others.append(contentsOf: other.others)
        for row in first..<count {
            switch PropertyColumn.Kind(rawValue: kinds[row]) {
            case .string: numbers[row] = codes[Int(numbers[row])]
            case .other: numbers[row] += base
            default: break
            }
        }
    }

    public func removeAll() {
        count = 0
        if strings.count > 0 { strings = StringPool() }
        others.removeAll()
    }

    /// Returns the column of all rows and removes them from this builder.
    public func finish() -> PropertyColumn {
        cells.resize(to: count)
        let column = PropertyColumn(cells, strings, others)
        cells = PropertyCells(count: 16)
        (kinds, numbers, capacity) = (cells.kinds, cells.numbers, cells.count)
        removeAll()
        return column
    }
}

/// Fills a range of a property's cells, row by row, and collects the values to which their numbers refer.
///
/// Invariant: the pointers refer to the cells' rows, only this writer writes those in `rows`, and `cells`
/// keeps them valid. Therefore it may be passed between threads, and `@unchecked Sendable` is sound.
public struct PropertyColumnWriter: @unchecked Sendable {
    let cells: PropertyCells
    let rows: Range<Int>
    private let kinds: UnsafeMutablePointer<UInt8>
    private let numbers: UnsafeMutablePointer<Double>
    /// The next row.
    private(set) var row: Int
    private(set) var strings = StringPool()
    private(set) var others: [JSONValue] = []

    /// - Parameter rows: rows outside the cells are ignored. No other writer may have any of them.
    public init(filling rows: Range<Int>, of cells: PropertyCells) {
        self.cells = cells
        self.rows = rows.clamped(to: 0..<cells.count)
        kinds = cells.kinds
        numbers = cells.numbers
        row = self.rows.lowerBound
    }

    /// Bytes of the values that the rows refer to: strings, arrays and objects.
    public var valueBytes: Int { strings.memoryBytes + others.count * MemoryLayout<JSONValue>.stride }

    /// Adds a row; rows past the last one are ignored.
    @inline(__always) private mutating func add(_ kind: PropertyColumn.Kind, _ number: Double = 0) {
        guard row < rows.upperBound else { return }
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

    /// Replaces the numbers of strings and other values by those that they have in the whole column.
    ///
    /// - Returns: false if cancelled; then no number has been replaced.
    mutating func renumber(
        into strings: inout StringPool, _ others: inout [JSONValue], _ isCancelled: () -> Bool
    ) -> Bool {
        guard self.strings.count > 0 || !self.others.isEmpty else { return true }
        var codes: [Double] = []
        codes.reserveCapacity(self.strings.count)
        for code in 0..<self.strings.count {
            if code & 0xfff == 0, isCancelled() { return false }
            codes.append(self.strings.withText(code) { Double(strings.code(adding: $0)) })
        }
        let base = Double(others.count)
        others.append(contentsOf: self.others)
        for row in rows.lowerBound..<row {
            switch PropertyColumn.Kind(rawValue: kinds[row]) {
            case .string: numbers[row] = codes[Int(numbers[row])]
            case .other: numbers[row] += base
            default: break
            }
        }
        return true
    }
}
