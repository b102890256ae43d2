// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// The values of an expression for rows.
public struct RowValues: Sendable {
    /// The kind of a row's value.
    public enum Kind: UInt8, Sendable {
        case null, number
        /// A value in `others`, at the index stored in `numbers`.
        case other
        /// The evaluation failed. Only while an expression is evaluated; in its result such rows are null.
        case error
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
        case .null, .error: .null
        case .number: .number(numbers[index])
        case .other: others[Int(numbers[index])]
        }
    }

    /// Rows that are null.
    init(count: Int) {
        kinds = Array(repeating: .null, count: count)
        numbers = Array(repeating: 0, count: count)
    }

    mutating func set(_ index: Int, _ value: JSONValue) {
        switch value {
        case .null: kinds[index] = .null
        case .number(let number): (kinds[index], numbers[index]) = (.number, number)
        default:
            (kinds[index], numbers[index]) = (.other, Double(others.count))
            others.append(value)
        }
    }

    init(capacity: Int) {
        kinds = Array(roomFor: capacity)
        numbers = Array(roomFor: capacity)
    }

    mutating func append(_ kind: Kind, _ number: Double = 0) {
        kinds.append(kind)
        numbers.append(number)
    }

    /// The values of a column for rows.
    init(_ column: PropertyColumn, _ rows: [UInt32]) {
        self.init(capacity: rows.count)
        let strings = column.strings.count
        others = (0..<strings).map { .string(column.strings[$0]) } + [.bool(false), .bool(true)] + column.others
        for row in rows {
            let number = column.number(Int(row))
            switch column.kind(Int(row)) {
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

/// The numbers of an expression for rows.
public struct RowNumbers: Sendable {
    /// NaN for null and for values that are not numbers.
    public let values: [Double]
    /// The number of rows with each evaluation error, by message.
    public let errors: [String: Int]
    /// Where the numbers come from, if they are a property's.
    private let source: (column: PropertyColumn, rows: [UInt32])?

    /// - Parameter values: NaN for null and for values that are not numbers.
    public init(values: [Double], errors: [String: Int]) { (self.values, self.errors, source) = (values, errors, nil) }

    /// The numbers of a column for rows.
    ///
    /// - Complexity: one or two nanoseconds per row.
    init(_ column: PropertyColumn, _ rows: [UInt32]) {
        let numeric = PropertyColumn.Kind.number.rawValue
        values = column.withRows { kinds, numbers in
            [Double](unsafeUninitializedCapacity: rows.count) { values, count in
                LargePages.advise(values)
                for (index, row) in rows.enumerated() {
                    let number = kinds[Int(row)] == numeric ? numbers[Int(row)] : .nan
                    values.initializeElement(at: index, to: number)
                }
                count = rows.count
            }
        }
        (errors, source) = ([:], (column, rows))
    }

    /// Whether `type` returns the types.
    public var knowsTypes: Bool { source != nil }

    /// The type of the value at an index; null for NaN, and if the types are not known.
    public func type(_ index: Int) -> ExpressionType {
        guard let source else { return .null }
        let value = source.column.value(Int(source.rows[index])) ?? .null
        if case .number(let number) = value, number.isNaN { return .null }
        return ExpressionType.of(value)
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
        feature: @escaping (Int) -> (identifier: JSONValue, properties: JSONObject) = { _ in (.null, JSONObject()) },
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
