// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import GeoJSON
import JSON
import Synchronization
import SystemSupport

extension SourceColumns {
    /// The rows of the columns, with what else expressions can read.
    package func rows(
        _ members: [UInt32]?, of store: FeatureStore, zoom: Double? = nil, _ cancellation: Cancellation
    ) -> RowSource {
        rows(members, of: store, zoom: zoom, EvaluationBudget { cancellation.isCancelled })
    }

    /// The rows of columns that were read of some rows of a store.
    func rows(readOf rows: [UInt32], of store: FeatureStore, _ cancellation: Cancellation) -> RowSource {
        RowSource(
            columns: columns, rows: Array(rows.indices.lazy.map { UInt32(truncatingIfNeeded: $0) }),
            zoom: nil,
            feature: { Self.feature(Int(rows[$0]), of: store) },
            budget: EvaluationBudget { cancellation.isCancelled })
    }

    private func rows(
        _ members: [UInt32]?, of store: FeatureStore, zoom: Double?, _ budget: EvaluationBudget
    ) -> RowSource {
        RowSource(
            columns: columns,
            rows: members ?? store.livingRows ?? Array(0..<UInt32(truncatingIfNeeded: store.count)),
            zoom: zoom,
            feature: { Self.feature($0, of: store) }, budget: budget)
    }

    /// The rows of a store for which a filter is true, ascending.
    ///
    /// - Parameters:
    ///   - among: the rows to look at, ascending; nil for all.
    ///   - threads: the most threads to use. The result does not depend on it.
    /// - Throws: `evaluationTooLong` if the rows take more steps than a filter is allowed.
    package func passing(
        _ filter: Expression, of store: FeatureStore, among rows: [UInt32]? = nil, zoom: Double? = nil, threads: Int,
        _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt32] {
        let living = rows ?? store.livingRows
        let count = living?.count ?? store.count
        let partCount = threads == 1 ? 1 : max(1, min(8 * threads, count / Self.leastRows))
        let budget = EvaluationBudget(steps: ExpressionLimits.filterSteps(rows: count)) {
            cancellation.isCancelled
        }
        let passing = Mutex([[UInt32]](repeating: [], count: partCount))
        Parallel(.shared, threads: threads).forEach(below: partCount) { part in
            let indexes = count * part / partCount..<count * (part + 1) / partCount
            let some = living.map { Array($0[indexes]) } ?? indexes.map { UInt32(truncatingIfNeeded: $0) }
            let source = self.rows(some, of: store, zoom: zoom, budget)
            // The first part that fails stops all others. The budget holds the reason.
            guard let some = try? filter.passing(source) else { return }
            passing.withLock { $0[part] = some }
        }
        do throws(EvaluationStop) { try budget.check() } catch { throw SourceError(error) }
        return passing.withLock { $0.count == 1 ? $0[0] : Array($0.joined()) }
    }

    /// The rows of a store that a view shows, ascending.
    func selected(
        _ selection: ViewSelection, of store: FeatureStore, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> [UInt32] {
        let rows = try selection.filter.map { (filter) throws(SourceError) in
            try passing(filter.expression, of: store, threads: threads, cancellation)
        }
        let source = self.rows(rows, of: store, cancellation)
        guard let weight = selection.weight else { return source.rows }
        return zip(source.rows, try Self.weights(weight.expression, source)).filter { PointWeight.isGood($0.1) }.map(
            \.0)
    }

    /// The least number of rows for one thread.
    private static let leastRows = 16_384

    private static func feature(_ row: Int, of store: FeatureStore) -> (JSONValue, JSONObject) {
        let identifier = store.withIdentifier(row) { text in text.flatMap { try? JSONReader.parse($0) } }
        let properties = store.withProperties(row) { try? JSONReader.parse($0) }
        guard case .object(let object)? = properties else { return (identifier ?? .null, JSONObject()) }
        return (identifier ?? .null, object)
    }

    /// A weight for each row; NaN if the expression returns no number.
    package static func weights(_ expression: Expression, _ rows: RowSource) throws(SourceError) -> [Double] {
        try numbers(expression, rows)
    }

    /// A number for each row; NaN if the expression fails or returns anything else.
    package static func numbers(_ expression: Expression, _ rows: RowSource) throws(SourceError) -> [Double] {
        let values = try Self.values(expression, rows)
        return Array(large: values.count) { values.kinds[$0] == .number ? values.numbers[$0] : .nan }
    }

    /// An expression's value for each row.
    package static func values(_ expression: Expression, _ rows: RowSource) throws(SourceError) -> RowValues {
        do throws(EvaluationStop) { return try expression.values(rows) } catch { throw SourceError(error) }
    }

    /// The partition number of each row, and the expression's value of each partition. Values that are neither string
    /// nor number form one partition, null.
    package static func partitions(
        _ expression: Expression, _ rows: RowSource
    ) throws(SourceError) -> (codes: [UInt32], values: [JSONValue]) {
        let values = try Self.values(expression, rows)
        do throws(EvaluationStop) {
            let labels = try ValueCodes(values, isCancelled: rows.budget.isCancelled) { part($0) }
            return (labels.codes, labels.values)
        } catch { throw SourceError(error) }
    }

    private static func part(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string, .number: value
        default: .null
        }
    }
}

extension SourceError {
    package init(_ stop: EvaluationStop) {
        switch stop {
        case .cancelled: self = .cancelled
        case .exhausted(let steps): self = .evaluationTooLong(steps: steps)
        }
    }
}

/// Which weights points may have.
enum PointWeight {
    /// Far from the limits of a double, so that sums of weights, and of weighted positions, stay finite and above 0.
    private static let range = 1e-100...1e100

    /// Whether a weight is a number above 0, of a size that can be summed.
    static func isGood(_ weight: Double) -> Bool { range.contains(weight) }
}
