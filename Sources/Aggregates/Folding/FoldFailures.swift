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
    private static let leastClusters = 8192

    /// The number of failed steps, by message. O(children of clusters that are null).
    ///
    /// - Parameters:
    ///   - points: the values to fold, by point.
    ///   - folded: the results, by cluster.
    package func counts<Value: Sendable>(
        _ points: [Value], _ folded: [Value], isNull: @Sendable (Value) -> Bool
    ) -> [String: Int] {
        let all = Mutex(Counts())
        withoutActuallyEscaping(isNull) { isNull in
            Parallel(.shared, threads: threads).forEachShare(
                of: folded.indices, smallest: Self.leastClusters
            ) { clusters in
                let counts = count(clusters, points, folded, isNull)
                all.withLock { $0.add(counts) }
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

    private enum Found {
        case nothing, null
        case other(ExpressionType)
    }

    private func count<Value>(
        _ clusters: Range<Int>, _ points: [Value], _ folded: [Value], _ isNull: (Value) -> Bool
    ) -> Counts {
        func found(_ child: Node) -> Found {
            switch child {
            case .cluster(let cluster): return isNull(folded[Int(cluster.rawValue)]) ? .null : .nothing
            case .point(let point):
                let point = Int(point.rawValue)
                guard isNull(points[point]) else { return .nothing }
                let type = type(point)
                return type == .null ? .null : .other(type)
            }
        }
        var counts = Counts()
        for cluster in clusters where isNull(folded[cluster]) {
            let children = index.children(of: ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: cluster)))
            var bad = Found.nothing
            for (position, child) in children.enumerated() {
                if case .nothing = bad { bad = found(child) }
                guard position > 0 else { continue }
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

    private func message(_ found: ExpressionType) -> String {
        "Expected value to be of type \(expected.name), but found \(found.name) instead."
    }
}
