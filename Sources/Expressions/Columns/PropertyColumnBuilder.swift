// SPDX-License-Identifier: MIT
import JSON

/// Fills a column row by row; it grows as needed. Not safe for use by several threads at once.
///
/// Invariant: `kinds` and `numbers` point to the memory of `cells`, which have `capacity` rows and are not shared.
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
