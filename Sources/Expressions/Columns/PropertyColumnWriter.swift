// SPDX-License-Identifier: MIT
import JSON

/// Fills a range of a property's cells, row by row, and collects the values to which their numbers refer.
///
/// Invariant: the pointers refer to the cells' rows, only this writer writes those in `rows`, and `cells` keeps
/// them valid. Therefore it may be passed between threads, and `@unchecked Sendable` is sound.
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
