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

extension RowSource {
    /// The rows in runs of at most `VectorProgram.chunk`, which are evaluated together.
    var chunks: some Sequence<ArraySlice<UInt32>> {
        stride(from: 0, to: rows.count, by: VectorProgram.chunk).lazy.map { start in
            rows[start..<Swift.min(start + VectorProgram.chunk, rows.count)]
        }
    }
}
