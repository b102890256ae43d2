// SPDX-License-Identifier: MIT
import JSON

/// One property of all features of a source, decoded once: for each row a kind and a number, a string's code
/// or another value's place.
///
/// Nine bytes a row, and each different string once.
public final class PropertyColumn: Sendable {
    /// What a row has.
    enum Kind: UInt8, Sendable {
        case missing, null, no, yes, number, string, other
    }

    let kinds: [UInt8]
    /// Numbers; for strings their code, for other values their place.
    let numbers: [Double]
    let strings: StringPool
    let others: [JSONValue]

    init(kinds: [UInt8], numbers: [Double], strings: StringPool, others: [JSONValue]) {
        self.kinds = kinds
        self.numbers = numbers
        self.strings = strings
        self.others = others
    }

    public var count: Int { kinds.count }

    public var memoryBytes: Int {
        kinds.count * (MemoryLayout<UInt8>.stride + MemoryLayout<Double>.stride) + strings.memoryBytes
            + others.count * MemoryLayout<JSONValue>.stride
    }

    /// Some rows' numbers; not a number where they have something else.
    func numbers(of rows: [UInt32]) -> [Double] {
        kinds.withUnsafeBufferPointer { kinds in
            numbers.withUnsafeBufferPointer { numbers in
                rows.map { kinds[Int($0)] == Kind.number.rawValue ? numbers[Int($0)] : .nan }
            }
        }
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

/// Fills a column row by row. For one thread at a time.
///
/// No method calls back into its caller, so accesses cannot overlap; checking that at every row took a
/// tenth of the time.
public final class PropertyColumnBuilder {
    @exclusivity(unchecked) private var kinds: [UInt8] = []
    @exclusivity(unchecked) private var numbers: [Double] = []
    @exclusivity(unchecked) private var strings = StringPool()
    @exclusivity(unchecked) private var others: [JSONValue] = []

    public init(capacity: Int = 0) {
        kinds.reserveCapacity(capacity)
        numbers.reserveCapacity(capacity)
    }

    /// How many rows there are.
    public var count: Int { kinds.count }

    private func add(_ kind: PropertyColumn.Kind, _ number: Double = 0) {
        kinds.append(kind.rawValue)
        numbers.append(number)
    }

    public func appendMissing() { add(.missing) }
    public func appendNull() { add(.null) }
    public func append(_ flag: Bool) { add(flag ? .yes : .no) }
    public func append(_ number: Double) { add(.number, number) }

    /// Appends a string by its UTF-8.
    public func append(utf8: UnsafeRawBufferPointer) {
        add(.string, Double(strings.code(adding: utf8)))
    }

    public func append(_ value: JSONValue) {
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

    /// Appends the rows of a column that was filled elsewhere.
    public func append(_ column: PropertyColumn) {
        if kinds.isEmpty {
            (kinds, numbers, strings, others) = (
                column.kinds, column.numbers, column.strings, column.others
            )
            return
        }
        let codes = (0..<column.strings.count).map { code -> Double in
            var text = column.strings[code]
            return text.withUTF8 { Double(strings.code(adding: UnsafeRawBufferPointer($0))) }
        }
        let base = Double(others.count)
        kinds.append(contentsOf: column.kinds)
        others.append(contentsOf: column.others)
        numbers.reserveCapacity(numbers.count + column.count)
        for (kind, number) in zip(column.kinds, column.numbers) {
            switch PropertyColumn.Kind(rawValue: kind) {
            case .string: numbers.append(codes[Int(number)])
            case .other: numbers.append(number + base)
            default: numbers.append(number)
            }
        }
    }

    public func finish() -> PropertyColumn {
        PropertyColumn(kinds: kinds, numbers: numbers, strings: strings, others: others)
    }
}
