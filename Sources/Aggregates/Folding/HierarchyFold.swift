// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import SystemSupport

/// Folds points' values up the tree of clusters, zoom by zoom. Several threads share the clusters of one zoom.
///
/// A cluster's value starts with its first child, the node that it grew from. Its other children follow
/// in order, so the result does not depend on the number of threads.
package struct HierarchyFold {
    package let index: ClusterIndex
    package let threads: Int
    package let cancellation: Cancellation

    /// The least number of points or clusters for one thread.
    private static let smallestShare = 8192
    /// The number of points whose values are written at once: they fit the processor's cache.
    private static let piece = 512

    /// The values of all points and clusters.
    ///
    /// Points come first and clusters after them, numbered as children are, so that the fold needs no branch.
    package struct Nodes<Value: BitwiseCopyable & Sendable>: Sendable {
        fileprivate let values: [Value]
        package let pointCount: Int

        /// By cluster's ordinal.
        package var clusters: ArraySlice<Value> { values[min(pointCount, values.count)...] }
    }

    /// The clusters' values by ordinal.
    ///
    /// - Parameters:
    ///   - points: the points' values.
    ///   - zero: any value, to initialize memory.
    package func fold<Fold: NodeFold>(_ points: [Fold.Value], zero: Fold.Value, by fold: Fold)
        throws(EvaluationStop)
        -> [Fold.Value]
    {
        let nodes = try nodes(
            pointCount: points.count, zero: zero,
            fill: { places, target in
                for position in places { target[position - places.lowerBound] = points[position] }
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
        Parallel(.shared, threads: threads).forEachShare(of: all, smallest: Self.smallestShare, body)
    }

    /// The input of the threads that fold a zoom's clusters.
    ///
    /// Invariant: the buffers outlive the work. `values` has room for `pointCount` points and all clusters of the
    /// hierarchy described by `starts` and `children`. Each child's number is below `pointCount` plus its
    /// parent's ordinal.
    /// `@unchecked Sendable` holds because threads write values of different points, or different clusters of one
    /// zoom, and read only those of points and deeper zooms, which are complete.
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
                var position = Int(starts[cluster])
                let end = Int(starts[cluster &+ 1])
                var folded = position < end ? values[Int(children[position])] : zero
                position &+= 1
                while position < end {
                    folded = fold.fold(folded, values[Int(children[position])])
                    position &+= 1
                }
                values[pointCount &+ cluster] = folded
            }
        }
    }
}

/// Combines two nodes' values. A type rather than a closure, so that steps are inlined and several of them
/// wait for memory at the same time.
package protocol NodeFold: Sendable {
    associatedtype Value: BitwiseCopyable & Sendable

    func fold(_ first: Value, _ second: Value) -> Value
}

/// Sums of numbers.
struct SumFold: NodeFold {
    func fold(_ first: Double, _ second: Double) -> Double { first + second }
}

/// Sums of counts.
struct CountFold: NodeFold {
    func fold(_ first: UInt32, _ second: UInt32) -> UInt32 { first &+ second }
}
