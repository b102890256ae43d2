// SPDX-License-Identifier: MIT
import Expressions
import Clustering
import SystemSupport

/// How two nodes' values become one. A type, not a closure, so that a step of the fold is no call: several steps then
/// wait for memory at once.
package protocol NodeFold: Sendable {
    associatedtype Value: BitwiseCopyable & Sendable

    func fold(_ first: Value, _ second: Value) -> Value
}

/// Folds points' values up the tree of clusters, zoom by zoom, clusters of one zoom by several threads.
///
/// A cluster's value starts as that of its first child, the node that it grew from; then its other children follow
/// in their order. So the outcome is the same whatever the number of threads.
package struct HierarchyFold {
    package let index: ClusterIndex
    package let threads: Int
    package let cancellation: Cancellation

    /// Fewer points or clusters than these are one thread's.
    private static let smallestShare = 8192
    /// Points whose values are written at once: a processor keeps these at hand.
    private static let piece = 512

    /// Values of all points and clusters.
    ///
    /// They lie one behind the other, numbered as children are, so that no step of the fold has to be guessed.
    package struct Nodes<Value: BitwiseCopyable & Sendable>: Sendable {
        fileprivate let values: [Value]
        package let pointCount: Int

        /// By cluster's ordinal.
        package var clusters: ArraySlice<Value> { values[min(pointCount, values.count)...] }
    }

    /// Clusters' values by ordinal.
    ///
    /// - Parameters:
    ///   - points: by point.
    ///   - zero: any value.
    package func fold<Fold: NodeFold>(_ points: [Fold.Value], zero: Fold.Value, by fold: Fold)
        throws(EvaluationStop)
        -> [Fold.Value]
    {
        let nodes = try nodes(
            pointCount: points.count, zero: zero,
            fill: { places, target in
                for place in places { target[place - places.lowerBound] = points[place] }
            }, by: fold)
        return Array(nodes.clusters)
    }

    /// All nodes' values.
    ///
    /// - Parameters:
    ///   - zero: any value.
    ///   - fill: writes the values of some points, in their order; called by several threads.
    package func nodes<Fold: NodeFold>(
        pointCount: Int, zero: Fold.Value,
        fill: (Range<Int>, UnsafeMutableBufferPointer<Fold.Value>) -> Void, by fold: Fold
    ) throws(EvaluationStop) -> Nodes<Fold.Value> {
        let levels = index.levels
        let count = pointCount + index.clusterCount
        let values = [Fold.Value](unsafeUninitializedCapacity: count) { values, written in
            LargePages.advise(values)
            index.withHierarchy { starts, children in
                withoutActuallyEscaping(fill) { fill in
                    let work = Work(
                        values: UnsafeMutableBufferPointer(rebasing: values[..<count]),
                        pointCount: pointCount,
                        starts: starts, children: children, zero: zero, fill: fill, fold: fold)
                    inShares(0..<pointCount) { work.fill($0, pieces: Self.piece) }
                    for level in levels where !cancellation.isCancelled { inShares(level) { work.run($0) } }
                }
            }
            written = cancellation.isCancelled ? 0 : count
        }
        try cancellation.stopIfCancelled()
        return Nodes(values: values, pointCount: pointCount)
    }

    private func inShares(_ all: Range<Int>, _ body: @Sendable (Range<Int>) -> Void) {
        ParallelShares.forEach(of: all, threads: threads, smallest: Self.smallestShare, body)
    }

    /// What a share of a zoom's clusters is worked out of.
    ///
    /// Invariant: the buffers outlive the work; `values` has room for `pointCount` points and all clusters of the
    /// hierarchy that `starts` and `children` are, in which children are numbered below `pointCount` plus their
    /// parent's ordinal.
    /// `@unchecked Sendable` holds because shares write values of different points, or different clusters of one
    /// zoom, and read those of points and deeper zooms alone, whose shares have ended.
    private struct Work<Fold: NodeFold>: @unchecked Sendable {
        typealias Value = Fold.Value

        let values: UnsafeMutableBufferPointer<Value>
        let pointCount: Int
        let starts: UnsafeBufferPointer<UInt32>
        let children: UnsafeBufferPointer<UInt32>
        let zero: Value
        let fill: (Range<Int>, UnsafeMutableBufferPointer<Value>) -> Void
        let fold: Fold

        func fill(_ points: Range<Int>, pieces: Int) {
            var start = points.lowerBound
            while start < points.upperBound {
                let end = min(start + pieces, points.upperBound)
                fill(start..<end, UnsafeMutableBufferPointer(rebasing: values[start..<end]))
                start = end
            }
        }

        func run(_ clusters: Range<Int>) {
            let fold = fold
            for cluster in clusters {
                var place = Int(starts[cluster])
                let end = Int(starts[cluster &+ 1])
                var folded = place < end ? values[Int(children[place])] : zero
                place &+= 1
                while place < end {
                    folded = fold.fold(folded, values[Int(children[place])])
                    place &+= 1
                }
                values[pointCount &+ cluster] = folded
            }
        }
    }
}
