// SPDX-License-Identifier: MIT

/// Changes beside a base index, frozen: what queries of a changed index read.
final class IndexOverlay: Sendable {
    let state: OverlayState

    init(_ state: OverlayState) {
        self.state = state
    }

    /// Ids of clusters that updates made: this, the index of the point that each grew from, and its zoom.
    private static let idBit: Int64 = 1 << 48

    func id(ofCluster place: Int) -> Int64 {
        Self.idBit | Int64(state.clusters[place].order) << 5 | Int64(state.clusters[place].zoom) + 1
    }

    /// The cluster that updates made with an id; nil where there is none. O(zooms).
    func cluster(id: Int64) -> ClusterOrdinal? {
        let code = id & ~Self.idBit
        guard id & Self.idBit != 0, code >= 0, code < 1 << 37 else { return nil }
        let (point, zoom) = (Int(code >> 5), Int(code & 31) - 1)
        guard state.isAlive(point: point) else { return nil }
        var key = NodeKey(rawValue: UInt32(point))
        while true {
            let parent = state.parent(of: key)
            guard parent != NodeNumber.none, state.zoom(ofCluster: Int(parent)) >= zoom else { return nil }
            key = NodeKey(ClusterOrdinal(rawValue: parent))
            if state.zoom(ofCluster: Int(parent)) == zoom { break }
        }
        guard let place = state.overlayCluster(key.number), state.clusters[place].order == UInt32(point)
        else { return nil }
        return ClusterOrdinal(rawValue: UInt32(key.number))
    }

    /// How many living points come before a point: its place in the input without the gaps.
    func inputPlace(of point: PointIndex) -> Int {
        var (low, high) = (0, state.removedPoints.count)
        while low < high {
            let middle = (low + high) / 2
            if state.removedPoints[middle] < point.rawValue { low = middle + 1 } else { high = middle }
        }
        return Int(point.rawValue) - low
    }

    /// A cluster's leaves as runs of the base's leaves and single points, in order.
    func leafRuns(of ordinal: Int) -> [LeafRun] {
        var runs: [LeafRun] = []
        var end = 0
        appendRuns(of: NodeKey(ClusterOrdinal(rawValue: UInt32(ordinal))), &runs, &end)
        return runs
    }

    private func appendRuns(of key: NodeKey, _ runs: inout [LeafRun], _ end: inout Int) {
        if key.isCluster, state.overlayCluster(key.number) != nil {
            for position in 0..<state.childCount(ofCluster: key.number) {
                appendRuns(of: state.child(position, ofCluster: key.number), &runs, &end)
            }
            return
        }
        let first = key.isCluster ? Int(state.base.leafStarts[key.number]) : key.number
        runs.append(LeafRun(position: end, first: first, isPoint: !key.isCluster))
        end += Int(state.count(of: key))
    }
}

/// Leaves that follow each other.
struct LeafRun: Sendable, BitwiseCopyable {
    /// How many leaves come before it.
    let position: Int
    /// The point itself, or the place of the first in the base's leaves.
    let first: Int
    let isPoint: Bool
}
