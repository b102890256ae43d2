// SPDX-License-Identifier: MIT
import Clustering
import Expressions

/// What evaluating an operator child by child fails with, for clusters that it made null.
///
/// A step fails where what was folded so far, or the next child's value, is not of the operator's type; then
/// what was folded is null, and so is the cluster in the end. Other clusters have no failures.
struct FoldFailures {
    let index: ClusterIndex
    let values: RowValues
    /// The operator's type.
    let expected: ExpressionType

    /// How many steps failed, by message. O(children of clusters that are null).
    ///
    /// - Parameters:
    ///   - points: by point, what is folded.
    ///   - folded: by cluster, what came of it.
    func counts<Value>(
        _ points: [Value], _ folded: [Value], isNull: (Value) -> Bool
    ) -> [String: Int] {
        var counts: [String: Int] = [:]
        index.withHierarchy { starts, children in
            for cluster in folded.indices where isNull(folded[cluster]) {
                var bad: ExpressionType?
                for place in Int(starts[cluster])..<Int(starts[cluster + 1]) {
                    let child = Int(children[place])
                    var found = bad
                    if bad == nil, child < points.count, isNull(points[child]) {
                        found = ExpressionType.of(values.value(child))
                    } else if bad == nil, child >= points.count, isNull(folded[child - points.count]) {
                        found = .null
                    }
                    let isFirst = place == Int(starts[cluster])
                    if let found, !isFirst { counts[message(found), default: 0] += 1 }
                    bad = found == nil || isFirst ? found : .null
                }
            }
        }
        return counts
    }

    private func message(_ found: ExpressionType) -> String {
        "Expected value to be of type \(expected.name), but found \(found.name) instead."
    }
}
