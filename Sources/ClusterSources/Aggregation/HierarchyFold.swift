// SPDX-License-Identifier: MIT
import Clustering
import Dispatch

/// Folds values of points up into clusters, zoom by zoom, each zoom's clusters by several threads.
///
/// A cluster's value starts as that of its first child, the node that it grew from; then its other children follow
/// in their order. So the outcome is the same whatever the number of threads.
struct HierarchyFold {
    let index: ClusterIndex
    let threads: Int
    let cancellation: Cancellation

    /// Fewer clusters than these are one thread's.
    private static let smallestShare = 8192

    /// Clusters' values by ordinal.
    ///
    /// - Parameters:
    ///   - points: by point.
    ///   - zero: any value.
    func fold<Value: BitwiseCopyable & Sendable>(
        _ points: [Value], zero: Value, _ fold: (Value, Value) -> Value
    ) throws(SourceError) -> [Value] {
        var values = LargePages.array(repeating: zero, count: index.clusterCount)
        let levels = index.levels
        points.withUnsafeBufferPointer { points in
            values.withUnsafeMutableBufferPointer { values in
                index.withHierarchy { starts, children in
                    withoutActuallyEscaping(fold) { fold in
                        let work = Work(
                            points: points, values: values, starts: starts, children: children, fold: fold)
                        for level in levels where !cancellation.isCancelled { run(work, level) }
                    }
                }
            }
        }
        try cancellation.stopIfCancelled()
        return values
    }

    private func run<Value>(_ work: Work<Value>, _ level: Range<Int>) {
        let shares = max(1, min(threads, level.count / Self.smallestShare))
        guard shares > 1 else { return work.run(level) }
        DispatchQueue.concurrentPerform(iterations: shares) { share in
            let start = level.lowerBound + level.count * share / shares
            work.run(start..<level.lowerBound + level.count * (share + 1) / shares)
        }
    }

    /// What a share of a zoom's clusters is worked out of.
    ///
    /// Invariant: the buffers outlive the work; `starts` and `children` are a hierarchy of as many clusters as
    /// there are values, in which children are numbered below `points.count` plus their parent's ordinal.
    /// `@unchecked Sendable` holds because shares write values of different clusters of one zoom, and read those of
    /// deeper zooms alone, whose shares have ended.
    private struct Work<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
        let points: UnsafeBufferPointer<Value>
        let values: UnsafeMutableBufferPointer<Value>
        let starts: UnsafeBufferPointer<UInt32>
        let children: UnsafeBufferPointer<UInt32>
        let fold: (Value, Value) -> Value

        @inline(__always) private func value(_ child: UInt32) -> Value {
            let child = Int(child)
            return child < points.count ? points[child] : values[child - points.count]
        }

        func run(_ clusters: Range<Int>) {
            for cluster in clusters {
                let children = Int(starts[cluster])..<Int(starts[cluster + 1])
                guard let first = children.first else { continue }
                var folded = value(self.children[first])
                for place in children.dropFirst() { folded = fold(folded, value(self.children[place])) }
                values[cluster] = folded
            }
        }
    }
}
