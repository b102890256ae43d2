// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import SystemSupport

/// Folds points' values up the tree of clusters, zoom by zoom. Several threads fold the clusters of one zoom.
///
/// A cluster's value starts with its first child, the node that it grew from. Its other children follow
/// in order, so the result does not depend on the number of threads.
package struct HierarchyFold {
    package let index: ClusterIndex
    package let threads: Int
    package let cancellation: Cancellation

    /// The least number of clusters for one thread.
    private static let leastClusters = 8192

    /// The clusters' values by ordinal.
    ///
    /// - Parameters:
    ///   - points: the points' values.
    ///   - zero: any value, to initialize memory.
    package func fold<Fold: NodeFold>(
        _ points: [Fold.Value], zero: Fold.Value, by fold: Fold
    ) throws(EvaluationStop) -> [Fold.Value] {
        let clusters = [Fold.Value](unsafeUninitializedCapacity: index.clusterCount) { clusters, written in
            LargePages.advise(clusters)
            index.withHierarchy { starts, children in
                points.withUnsafeBufferPointer { points in
                    let work = Work(
                        points: points, clusters: clusters, starts: starts, children: children, zero: zero, fold: fold)
                    for level in index.levels where !cancellation.isCancelled {
                        Parallel(.shared, threads: threads).forEachShare(
                            of: level, smallest: Self.leastClusters
                        ) { work.run($0) }
                    }
                }
            }
            written = cancellation.isCancelled ? 0 : index.clusterCount
        }
        try cancellation.stopIfCancelled()
        return clusters
    }

    /// The input of the threads that fold a zoom's clusters.
    ///
    /// Invariant: the buffers outlive the work. `clusters` has room for all clusters of the hierarchy described by
    /// `starts` and `children`. Each child's number is below the number of points plus its parent's ordinal.
    /// `@unchecked Sendable` holds because threads write values of different clusters of one zoom, and read only
    /// those of points and deeper zooms, which are complete.
    private struct Work<Fold: NodeFold>: @unchecked Sendable {
        typealias Value = Fold.Value

        let points: UnsafeBufferPointer<Value>
        let clusters: UnsafeMutableBufferPointer<Value>
        let starts: UnsafeBufferPointer<UInt32>
        let children: UnsafeBufferPointer<UInt32>
        let zero: Value
        let fold: Fold

        func run(_ ordinals: Range<Int>) {
            let fold = fold
            for ordinal in ordinals {
                var child = Int(starts[ordinal])
                let end = Int(starts[ordinal &+ 1])
                var folded = child < end ? value(children[child]) : zero
                child &+= 1
                while child < end {
                    folded = fold.fold(folded, value(children[child]))
                    child &+= 1
                }
                clusters[ordinal] = folded
            }
        }

        /// Chooses an address instead of a value, so that the processor has no branch to predict.
        @inline(__always) private func value(_ node: UInt32) -> Value {
            let isPoint = Int(node) < points.count
            let values = isPoint ? points : UnsafeBufferPointer(clusters)
            return values[Int(node) &- (isPoint ? 0 : points.count)]
        }
    }
}

/// Combines two nodes' values. A type rather than a closure, so that steps are inlined and several of them
/// wait for memory at the same time.
package protocol NodeFold: Sendable {
    associatedtype Value: BitwiseCopyable & Sendable

    func fold(_ first: Value, _ second: Value) -> Value
}
