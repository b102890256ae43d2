// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import SystemSupport

/// Folds properties whose reduce expressions may read each other's values.
///
/// As in MapLibre, a reduce expression reads the next child's properties by `get`, and by `accumulated`
/// this property's value so far. An error, null and NaN become null.
package struct ReduceFolder {
    package let index: ClusterIndex
    package let cancellation: Cancellation

    /// - Parameters:
    ///   - properties: names with reduce expressions; nil for properties that are not folded by an expression.
    ///   - mapped: the values of each property, by point.
    /// - Returns: each cluster's values by property, in the properties' order; errors by message.
    package func fold(
        _ properties: [(name: String, reducer: Expression?)], _ mapped: [RowValues]
    ) throws(EvaluationStop) -> (columns: [[JSONValue]], errors: [String: Int]) {
        var columns = properties.map { _ in [JSONValue](roomFor: index.clusterCount) }
        var errors = ErrorCounts()
        // A cluster may have a longer value than any of its points.
        var room = ValueRoom(rows: index.clusterCount)
        let budget = EvaluationBudget { cancellation.isCancelled }
        for cluster in 0..<index.clusterCount {
            if cluster & 0x3f == 0 { try cancellation.stopIfCancelled() }
            var accumulated: [JSONValue] = []
            for child in index.children(of: ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: cluster))) {
                let values = self.values(of: child, mapped, columns)
                if accumulated.isEmpty {
                    accumulated = values
                } else {
                    let neighbour = JSONObject(zip(properties, values).map { ($0.name, $1) })
                    for position in properties.indices {
                        accumulated[position] = Self.reduce(
                            properties[position].reducer, accumulated[position], neighbour, budget, &errors)
                    }
                }
            }
            for position in properties.indices {
                do throws(EvaluationError) { try room.take(accumulated[position]) } catch {
                    errors.note(error.message)
                    accumulated[position] = .null
                }
                columns[position].append(accumulated[position])
            }
        }
        try cancellation.stopIfCancelled()
        return (columns, errors.byMessage)
    }

    private func values(of node: Node, _ mapped: [RowValues], _ columns: [[JSONValue]]) -> [JSONValue] {
        switch node {
        case .point(let point): mapped.map { $0.value(Int(point.rawValue)) }
        case .cluster(let cluster): columns.map { $0[Int(cluster.rawValue)] }
        }
    }

    private static func reduce(
        _ reducer: Expression?, _ accumulated: JSONValue, _ neighbour: JSONObject,
        _ budget: EvaluationBudget, _ errors: inout ErrorCounts
    ) -> JSONValue {
        guard let reducer else { return accumulated }
        do throws(EvaluationError) {
            let value = try reducer.evaluate(properties: neighbour, accumulated: accumulated, budget: budget)
            if case .number(let number) = value, !number.isFinite { return .null }
            return value
        } catch {
            errors.note(error.message)
            return .null
        }
    }
}
