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

/// The numbers of an expression for rows. A property's numbers stay in its column.
public struct RowNumbers: Sendable {
    private enum Numbers: Sendable {
        case values([Double])
        case column(PropertyColumn, rows: [UInt32])
    }

    private let numbers: Numbers
    /// The number of rows with each evaluation error, by message.
    public let errors: [String: Int]

    /// - Parameter values: NaN for null and for values that are not numbers.
    public init(values: [Double], errors: [String: Int]) {
        numbers = .values(values)
        self.errors = errors
    }

    /// The numbers of a column for rows.
    init(_ column: PropertyColumn, _ rows: [UInt32]) {
        precondition(rows.allSatisfy { $0 < column.count }, "the column has all rows")
        numbers = .column(column, rows: rows)
        errors = [:]
    }

    public var count: Int {
        switch numbers {
        case .values(let values): values.count
        case .column(_, let rows): rows.count
        }
    }

    /// Whether `type` returns the types.
    public var knowsTypes: Bool {
        if case .column = numbers { true } else { false }
    }

    /// The type of the value at an index; null for NaN, and if the types are not known.
    public func type(_ index: Int) -> ExpressionType {
        guard case .column(let column, let rows) = numbers else { return .null }
        let value = column.value(Int(rows[index])) ?? .null
        if case .number(let number) = value, number.isNaN { return .null }
        return ExpressionType.of(value)
    }

    /// All numbers; NaN if there is none.
    public var values: [Double] {
        if case .values(let values) = numbers { return values }
        return [Double](unsafeUninitializedCapacity: count) { target, written in
            if let target = target.baseAddress { forEach(in: 0..<count) { target[$0] = $1 } }
            written = count
        }
    }

    /// Writes the numbers at a range of indexes into one lane; NaN if there is none.
    ///
    /// - Parameters:
    ///   - lane: 0 to 3.
    ///   - target: one element per index, in their order.
    public func write(
        _ indexes: Range<Int>, lane: Int, into target: UnsafeMutableBufferPointer<SIMD4<Double>>
    ) {
        precondition(indexes.count <= target.count && (0..<4).contains(lane), "there is room for all indexes")
        guard let base = target.baseAddress else { return }
        base.withMemoryRebound(to: Double.self, capacity: 4 * target.count) { target in
            forEach(in: indexes) { target[4 * ($0 - indexes.lowerBound) + lane] = $1 }
        }
    }

    /// Checks once, not for each index, which kind of numbers these are.
    @inline(__always) private func forEach(in indexes: Range<Int>, _ body: (Int, Double) -> Void) {
        precondition(indexes.lowerBound >= 0 && indexes.upperBound <= count, "there are such indexes")
        switch numbers {
        case .values(let values):
            values.withUnsafeBufferPointer { values in
                for index in indexes { body(index, values[index]) }
            }
        case .column(let column, let rows):
            rows.withUnsafeBufferPointer { rows in
                column.kinds.withUnsafeBufferPointer { kinds in
                    column.numbers.withUnsafeBufferPointer { numbers in
                        for index in indexes {
                            let row = Int(rows[index])
                            let isNumber = kinds[row] == PropertyColumn.Kind.number.rawValue
                            body(index, isNumber ? numbers[row] : .nan)
                        }
                    }
                }
            }
        }
    }
}

/// The rows for which an expression is evaluated, and access to what the columns do not contain.
public struct RowSource {
    public let columns: FeatureColumns
    /// Row numbers, in ascending order.
    public let rows: [UInt32]
    public let zoom: Double?
    /// Returns a row's feature, for expressions that read what no column contains: its id, or all properties.
    public let feature: (Int) -> (identifier: JSONValue, properties: JSONObject)
    /// The steps that all rows may take, and the check for cancellation.
    public let budget: EvaluationBudget

    public init(
        columns: FeatureColumns, rows: [UInt32], zoom: Double? = nil,
        feature: @escaping (Int) -> (identifier: JSONValue, properties: JSONObject) = { _ in
            (.null, JSONObject())
        },
        budget: EvaluationBudget = EvaluationBudget()
    ) {
        self.columns = columns
        self.rows = rows
        self.zoom = zoom
        self.feature = feature
        self.budget = budget
    }
}

extension RowSource {
    /// The rows in runs of at most `VectorProgram.chunk`, which are evaluated together.
    var chunks: some Sequence<ArraySlice<UInt32>> {
        stride(from: 0, to: rows.count, by: VectorProgram.chunk).lazy.map { start in
            rows[start..<Swift.min(start + VectorProgram.chunk, rows.count)]
        }
    }
}
