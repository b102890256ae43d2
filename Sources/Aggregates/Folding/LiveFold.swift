// SPDX-License-Identifier: MIT
import Clustering

/// The clusters that an update made, with their children, by which aggregates are extended.
package struct LiveFold {
    /// Whether each cluster gets a value. Not if there is none that could stand for removed clusters.
    package var isComplete: Bool { hasBase || !points.isEmpty || ends.isEmpty }
    /// Whether there are clusters before the new ones.
    private let hasBase: Bool
    /// The points that are children of new clusters. Each has one parent.
    package private(set) var points: [PointIndex] = []
    /// The children, cluster by cluster: an index into `points`, or the bitwise complement of a
    /// cluster's ordinal, which is negative.
    private var children: [Int] = []
    /// By new cluster: the end of its children.
    private var ends: [Int] = []

    package init(_ update: IndexUpdate) {
        hasBase = update.made.lowerBound > 0
        for ordinal in update.made {
            let cluster = ClusterOrdinal(rawValue: ordinal)
            // The points of a cluster that a later update removed may no longer be there.
            for child in update.index.isAlive(cluster) ? Array(update.index.children(of: cluster)) : [] {
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

    /// Appends the new clusters' values to those of earlier updates.
    ///
    /// - Parameter points: the values of `points`.
    func extend<Fold: NodeFold>(
        _ values: ClusterValues<Fold.Value>, _ points: [Fold.Value], by fold: Fold
    ) -> ClusterValues<Fold.Value> {
        var values = values
        var start = 0
        for end in ends {
            var folded: Fold.Value?
            for child in children[start..<end] {
                let next = child >= 0 ? points[child] : values[~child]
                folded = folded.map { fold.fold($0, next) } ?? next
            }
            start = end
            // A removed cluster keeps its ordinal, so any value stands for it, which nothing reads.
            if let value = folded ?? (values.count > 0 ? values[0] : points.first) {
                values.made.append(value)
            }
        }
        return values
    }
}
