// SPDX-License-Identifier: MIT
import Clustering

/// The clusters that an update made, with their children: what aggregates are extended by.
package struct LiveFold {
    /// The points that are children of new clusters; one is a child of one cluster.
    package private(set) var points: [PointIndex] = []
    /// The clusters' children, one cluster's after the other's: an index among `points`, or the complement of a
    /// cluster's ordinal, which is below zero.
    private var children: [Int] = []
    /// By new cluster: where its children end.
    private var ends: [Int] = []

    package init(_ update: IndexUpdate) {
        for ordinal in update.made {
            for child in update.index.children(of: ClusterOrdinal(rawValue: ordinal)) {
                switch child {
                case .point(let point):
                    children.append(points.count)
                    points.append(point)
                case .cluster(let cluster): children.append(~Int(cluster.rawValue))
                }
            }
            ends.append(children.count)
        }
    }

    /// The values of all clusters: the new ones' behind those of earlier updates.
    ///
    /// - Parameters:
    ///   - points: the values of `points`.
    ///   - combine: makes the values of two nodes one.
    func extend<Value>(
        _ values: ClusterValues<Value>, _ points: [Value], _ combine: (Value, Value) -> Value
    ) -> ClusterValues<Value> {
        var values = values
        var start = 0
        for end in ends {
            var folded: Value?
            for child in children[start..<end] {
                let next = child >= 0 ? points[child] : values[~child]
                folded = folded.map { combine($0, next) } ?? next
            }
            start = end
            // Every cluster has children, and every child a value.
            if let folded { values.made.append(folded) }
        }
        return values
    }
}
