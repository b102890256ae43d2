// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import SystemSupport

/// The folding of one property's values for new clusters, children first.
package struct LiveFold {
    /// Whether a cluster's value follows from its children's alone: not so where an initial value is folded
    /// in at the end, points themselves are looked at, or an expression reads other properties' values.
    package static func isFollowable(_ property: ClusterProperty) -> Bool {
        switch property.folding {
        case .simple(_, let initial): initial == nil
        case .mean, .count: true
        case .distinct, .histogram, .quantiles, .reduce: false
        }
    }

    /// The points that are children of new clusters; one is a child of one cluster.
    package private(set) var points: [PointIndex] = []
    /// The clusters' children, one cluster's after the other's: a row among `points`, or a cluster's ordinal
    /// below zero, as its complement.
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

    /// The new clusters' values behind those of earlier updates; nil where one is null.
    package func fold(
        _ property: ClusterProperty, _ aggregate: NamedAggregate, _ values: RowValues
    ) -> LiveColumn? {
        switch (property.folding, aggregate.column) {
        case (.simple(let simple, _), .numbers(let base)):
            var made = GrowingValues<Double>()
            if case .numbers(let earlier)? = aggregate.made { made = earlier }
            let start = made.count
            fold(values.foldableNumbers, base, &made) { simple.foldNumbers($0, $1) }
            return (start..<made.count).contains { made[$0].isNaN } ? nil : .numbers(made)
        case (.simple(let simple, _), .flags(let base)):
            var made = GrowingValues<UInt8>()
            if case .flags(let earlier)? = aggregate.made { made = earlier }
            let start = made.count
            fold(values.foldableFlags, base, &made) { simple.foldFlags($0, $1) }
            return (start..<made.count).contains { made[$0] == 2 } ? nil : .flags(made)
        case (.mean, .means(let sums, let counts)):
            var (madeSums, madeCounts) = (GrowingValues<Double>(), GrowingValues<UInt32>())
            if case .means(let earlierSums, let earlierCounts)? = aggregate.made {
                (madeSums, madeCounts) = (earlierSums, earlierCounts)
            }
            fold(values.summands, sums, &madeSums) { $0 + $1 }
            fold(values.numberCounts, counts, &madeCounts) { $0 &+ $1 }
            return .means(sums: madeSums, counts: madeCounts)
        case (.count, .counts(let base)):
            var made = GrowingValues<UInt32>()
            if case .counts(let earlier)? = aggregate.made { made = earlier }
            fold(values.presences, base, &made) { $0 &+ $1 }
            return .counts(made)
        default:
            return nil
        }
    }

    private func fold<Value>(
        _ points: [Value], _ base: [Value], _ made: inout GrowingValues<Value>,
        _ combine: (Value, Value) -> Value
    ) {
        var start = 0
        for end in ends {
            var folded: Value?
            for child in children[start..<end] {
                let next =
                    if child >= 0 { points[child] } else if ~child < base.count { base[~child] } else {
                        made[~child - base.count]
                    }
                folded = folded.map { combine($0, next) } ?? next
            }
            start = end
            // Every cluster has children, and every child a value.
            if let folded { made.append(folded) }
        }
    }
}
