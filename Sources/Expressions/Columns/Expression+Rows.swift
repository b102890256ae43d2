// SPDX-License-Identifier: MIT
import JSON

/// Rows of columns for which an expression is run, and what the columns do not hold.
public struct RowSource {
    public let columns: FeatureColumns
    /// The rows; ascending.
    public let rows: [UInt32]
    public let zoom: Double?
    /// Gives a row's feature where an expression reads what no column holds: its id, or all properties.
    public let feature: (Int) -> (identifier: JSONValue, properties: JSONObject)
    /// Asked now and then.
    public let isCancelled: () -> Bool

    public init(
        columns: FeatureColumns, rows: [UInt32], zoom: Double? = nil,
        feature: @escaping (Int) -> (identifier: JSONValue, properties: JSONObject) = { _ in
            (.null, JSONObject())
        },
        isCancelled: @escaping () -> Bool = { false }
    ) {
        self.columns = columns
        self.rows = rows
        self.zoom = zoom
        self.feature = feature
        self.isCancelled = isCancelled
    }
}

/// An expression's values for rows.
public struct RowValues: Sendable {
    /// By row: a number where `isNumber`, else not to be used.
    public fileprivate(set) var numbers: [Double] = []
    public fileprivate(set) var isNumber: [Bool] = []
    /// What is neither number nor null, by place among the rows.
    public fileprivate(set) var others: [Int: JSONValue] = [:]
    /// Messages of evaluation errors, with how many rows had them; such rows have null.
    public fileprivate(set) var errors: [String: Int] = [:]

    public func value(_ place: Int) -> JSONValue {
        isNumber[place] ? .number(numbers[place]) : others[place] ?? .null
    }
}

extension Expression {
    /// The rows for which a condition is true; where it fails it is not. Nil where that was cancelled.
    ///
    /// - Complexity: a few nanoseconds a row and comparison of a property with a literal.
    public func passing(_ source: RowSource) -> [UInt32]? {
        let program = program(source)
        var passing: [UInt32] = []
        for chunk in source.chunks {
            if source.isCancelled() { return nil }
            for (row, truth) in zip(chunk, program.truth(root, chunk)) where truth == Truth.yes {
                passing.append(row)
            }
        }
        return passing
    }

    /// The value for each row; not a number counts as null. Nil where that was cancelled.
    public func values(_ source: RowSource) -> RowValues? {
        let program = program(source)
        var result = RowValues()
        result.numbers.reserveCapacity(source.rows.count)
        result.isNumber.reserveCapacity(source.rows.count)
        for chunk in source.chunks {
            if source.isCancelled() { return nil }
            let vector = program.values(root, chunk)
            for place in vector.kinds.indices {
                if vector.kinds[place] == ValueVector.Kind.other {
                    result.others[result.numbers.count] = vector.value(place)
                }
                result.isNumber.append(
                    vector.kinds[place] == ValueVector.Kind.number && !vector.numbers[place].isNaN)
                result.numbers.append(vector.numbers[place])
            }
        }
        result.errors = program.errors
        return result
    }

    private func program(_ source: RowSource) -> VectorProgram {
        guard readsAnyProperty || usesIdentifier else {
            return VectorProgram(columns: source.columns, zoom: source.zoom, prepare: nil)
        }
        let feature = source.feature
        let readsAny = readsAnyProperty
        return VectorProgram(columns: source.columns, zoom: source.zoom) { context, row in
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
