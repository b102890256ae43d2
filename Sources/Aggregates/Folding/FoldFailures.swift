// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON
import Synchronization
import SystemSupport

/// Counts the errors of folding child by child in clusters whose value became null.
///
/// A step fails if the value so far, or the next child's value, is not of the operator's type. Then
/// the value so far becomes null, and so does the cluster's value. Other clusters have no failures.
package struct FoldFailures {
    package let index: ClusterIndex
    package let threads: Int
    /// The operator's type.
    package let expected: ExpressionType
    /// The type of a point's value.
    package let type: @Sendable (Int) -> ExpressionType

    /// The least number of clusters for one thread.
    private static let smallestShare = 8192

    /// The number of failed steps, by message. O(children of clusters that are null).
    ///
    /// - Parameters:
    ///   - points: the values to fold, by point.
    ///   - folded: the results, by cluster.
    package func counts<Value: Sendable>(
        _ points: [Value], _ folded: [Value], isNull: @Sendable (Value) -> Bool
    ) -> [String: Int] {
        let all = Mutex(Counts())
        index.withHierarchy { starts, children in
            withoutActuallyEscaping(isNull) { isNull in
                let work = Work(
                    starts: starts, children: children, points: points, folded: folded, isNull: isNull)
                Parallel(.shared, threads: threads).forEachShare(
                    of: 0..<folded.count, smallest: Self.smallestShare
                ) { some in
                    let counts = count(some, work)
                    all.withLock { $0.add(counts) }
                }
            }
        }
        var counts = all.withLock { $0 }
        if counts.nulls > 0 { counts.others[message(.null), default: 0] += counts.nulls }
        return counts.others
    }

    /// The number of steps that met null, and by message of those that met another wrong type, which is rare.
    private struct Counts: Sendable {
        var nulls = 0
        var others: [String: Int] = [:]

        mutating func add(_ more: Counts) {
            nulls += more.nulls
            others.merge(more.others, uniquingKeysWith: +)
        }
    }

    /// The input of the threads that count.
    ///
    /// Invariant: the buffers describe a hierarchy of as many clusters as `folded` has, and outlive the work. Nobody
    /// writes to them, so they may be shared.
    private struct Work<Value: Sendable>: @unchecked Sendable {
        let starts: UnsafeBufferPointer<UInt32>
        let children: UnsafeBufferPointer<UInt32>
        let points: [Value]
        let folded: [Value]
        let isNull: @Sendable (Value) -> Bool
    }

    private enum Found {
        case nothing, null
        case other(ExpressionType)
    }

    private func count<Value>(_ clusters: Range<Int>, _ work: Work<Value>) -> Counts {
        var counts = Counts()
        for cluster in clusters where work.isNull(work.folded[cluster]) {
            let children = Int(work.starts[cluster])..<Int(work.starts[cluster + 1])
            var bad = Found.nothing
            for position in children {
                let isFirst = position == children.lowerBound
                if case .nothing = bad { bad = found(Int(work.children[position]), work) }
                guard !isFirst else { continue }
                switch bad {
                case .nothing: continue
                case .null: counts.nulls += 1
                case .other(let type): counts.others[message(type), default: 0] += 1
                }
                bad = .null
            }
        }
        return counts
    }

    @inline(__always) private func found<Value>(_ child: Int, _ work: Work<Value>) -> Found {
        let count = work.points.count
        guard child < count else { return work.isNull(work.folded[child - count]) ? .null : .nothing }
        guard work.isNull(work.points[child]) else { return .nothing }
        let type = type(child)
        return type == .null ? .null : .other(type)
    }

    private func message(_ found: ExpressionType) -> String {
        "Expected value to be of type \(expected.name), but found \(found.name) instead."
    }
}
