// SPDX-License-Identifier: MIT

/// Consecutive leaves in the base's leaves, or a single point.
struct LeafRun: Sendable, BitwiseCopyable {
    /// The number of leaves before it.
    let position: Int
    /// The point itself, or the index of the first leaf in the base's leaves.
    let first: Int
    let isPoint: Bool
}

extension LayeredIndex {
    /// A cluster's leaves as runs, in order.
    func leafRuns(of cluster: ClusterOrdinal) -> [LeafRun] {
        var runs: [LeafRun] = []
        var end = 0
        appendRuns(of: NodeKey(cluster), &runs, &end)
        return runs
    }

    private func appendRuns(of key: NodeKey, _ runs: inout [LeafRun], _ end: inout Int) {
        if key.isCluster, deltaRow(key.number) != nil {
            for position in 0..<childCount(ofCluster: key.number) {
                appendRuns(of: child(position, ofCluster: key.number), &runs, &end)
            }
            return
        }
        let first = key.isCluster ? Int(base.columns.leafStarts[key.number]) : key.number
        runs.append(LeafRun(position: end, first: first, isPoint: !key.isCluster))
        end += Int(pointCount(of: key))
    }
}
