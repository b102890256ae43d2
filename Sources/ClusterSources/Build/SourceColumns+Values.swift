// SPDX-License-Identifier: MIT
import Expressions
import GeoJSON
import JSON

extension SourceColumns {
    /// Rows of the columns, with what expressions read beyond these.
    func rows(
        _ members: [UInt32]?, of store: FeatureStore, zoom: Double? = nil, _ cancellation: Cancellation
    ) -> RowSource {
        RowSource(
            columns: columns,
            rows: members ?? store.livingPlaces ?? Array(0..<UInt32(truncatingIfNeeded: store.count)),
            zoom: zoom,
            feature: { Self.feature($0, of: store) }, isCancelled: { cancellation.isCancelled })
    }

    private static func feature(_ row: Int, of store: FeatureStore) -> (JSONValue, JSONObject) {
        let identifier = store.withIdentifier(row) { text in text.flatMap { try? JSONReader.parse($0) } }
        let properties = store.withProperties(row) { try? JSONReader.parse($0) }
        guard case .object(let object)? = properties else { return (identifier ?? .null, JSONObject()) }
        return (identifier ?? .null, object)
    }

    /// A weight for each row; not a number where the expression gives none.
    static func weights(_ expression: Expression, _ rows: RowSource) throws(SourceError) -> [Double] {
        guard let values = expression.values(rows) else { throw .cancelled }
        return zip(values.numbers, values.kinds).map { $1 == .number ? $0 : .nan }
    }

    /// Numbers for the parts, by row, and what the expression gave for each. What is neither string nor
    /// number is one part, null.
    static func partitions(
        _ expression: Expression, _ rows: RowSource
    ) throws(SourceError) -> (codes: [UInt32], values: [JSONValue]) {
        guard let values = expression.values(rows) else { throw .cancelled }
        let labels = ValueCodes(values) { part($0) }
        return (labels.codes, labels.values)
    }

    private static func part(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string, .number: value
        default: .null
        }
    }
}
