// SPDX-License-Identifier: MIT
import JSON

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

/// The values of an expression for rows.
public struct RowValues: Sendable {
    /// The kind of a row's value.
    public enum Kind: UInt8, Sendable {
        case null, number
        /// A value in `others`, at the index stored in `numbers`.
        case other
    }

    public fileprivate(set) var kinds: [Kind] = []
    public fileprivate(set) var numbers: [Double] = []
    /// Values that are neither numbers nor null; most occur only once.
    public fileprivate(set) var others: [JSONValue] = []
    /// The number of rows with each evaluation error, by message. Such rows are null.
    public fileprivate(set) var errors: [String: Int] = [:]

    public var count: Int { kinds.count }

    public func value(_ index: Int) -> JSONValue {
        switch kinds[index] {
        case .null: .null
        case .number: .number(numbers[index])
        case .other: others[Int(numbers[index])]
        }
    }

    fileprivate init(capacity: Int) {
        kinds.reserveCapacity(capacity)
        numbers.reserveCapacity(capacity)
    }

    fileprivate mutating func append(_ kind: Kind, _ number: Double = 0) {
        kinds.append(kind)
        numbers.append(number)
    }

    /// The values of a column for rows.
    fileprivate init(_ column: PropertyColumn, _ rows: [UInt32]) {
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

extension Expression {
    /// The rows for which a condition is true; rows for which it fails do not pass.
    ///
    /// - Complexity: a few nanoseconds per row and comparison of a property with a literal.
    public func passing(_ source: RowSource) throws(EvaluationStop) -> [UInt32] {
        let program = program(source)
        let passing = [UInt32](unsafeUninitializedCapacity: source.rows.count) { passing, count in
            for chunk in source.chunks {
                guard (try? source.budget.check()) != nil else { return }
                // Whether a row passes is unpredictable for the processor. So each row is written, and
                // overwritten by the next if it does not pass.
                for (row, truth) in zip(chunk, program.truth(root, chunk)) {
                    passing[count] = row
                    count &+= truth == Truth.yes ? 1 : 0
                }
            }
        }
        try source.budget.check()
        return passing
    }

    /// The value for each row; NaN counts as null.
    public func values(_ source: RowSource) throws(EvaluationStop) -> RowValues {
        if let name = root.propertyName, let column = source.columns.column(name) {
            return RowValues(column, source.rows)
        }
        let program = program(source)
        var result = RowValues(capacity: source.rows.count)
        var indexes: [JSONValue: Int] = [:]
        for chunk in source.chunks {
            try source.budget.check()
            let vector = program.values(root, chunk)
            for position in vector.kinds.indices {
                switch vector.kinds[position] {
                case ValueVector.Kind.number where !vector.numbers[position].isNaN:
                    result.append(.number, vector.numbers[position])
                case ValueVector.Kind.other:
                    let value = vector.value(position)
                    let known = indexes[value] ?? result.others.count
                    if known == result.others.count {
                        indexes[value] = known
                        result.others.append(value)
                    }
                    result.append(.other, Double(known))
                default: result.append(.null)
                }
            }
        }
        try source.budget.check()
        result.errors = program.errors
        return result
    }

    /// The number for each row; NaN for null and for values that are not numbers.
    ///
    /// - Complexity: one or two nanoseconds per row for a property's own numbers.
    public func numbers(_ source: RowSource) throws(EvaluationStop) -> RowNumbers {
        if let name = root.propertyName, let column = source.columns.column(name) {
            return RowNumbers(column, source.rows)
        }
        let program = program(source)
        var numbers: [Double] = []
        numbers.reserveCapacity(source.rows.count)
        for chunk in source.chunks {
            try source.budget.check()
            let vector = program.values(root, chunk)
            for (kind, number) in zip(vector.kinds, vector.numbers) {
                numbers.append(kind == ValueVector.Kind.number ? number : .nan)
            }
        }
        try source.budget.check()
        return RowNumbers(values: numbers, errors: program.errors)
    }

    private func program(_ source: RowSource) -> VectorProgram {
        guard readsAnyProperty || usesIdentifier else {
            return VectorProgram(source, prepare: nil)
        }
        let feature = source.feature
        let readsAny = readsAnyProperty
        return VectorProgram(source) { context, row in
            let (identifier, properties) = feature(row)
            context.identifier = identifier
            guard readsAny else { return }
            context.columns = nil
            context.properties = properties
        }
    }
}

extension RowSource {
    fileprivate var chunks: some Sequence<ArraySlice<UInt32>> {
        stride(from: 0, to: rows.count, by: VectorProgram.chunk).lazy.map { start in
            rows[start..<Swift.min(start + VectorProgram.chunk, rows.count)]
        }
    }
}
