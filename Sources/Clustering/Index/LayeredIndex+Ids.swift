// SPDX-License-Identifier: MIT

extension IndexDelta.Cluster {
    /// Marks ids of clusters that updates made. The remaining bits are the point from which the cluster grew, and
    /// its zoom.
    static let idBit: Int64 = 1 << 48

    var id: Int64 { Self.idBit | Int64(origin) << 5 | Int64(zoom) + 1 }
}

extension LayeredIndex {
    /// The cluster that an update made with an id; nil if there is none. O(zooms).
    func deltaCluster(id: Int64) -> ClusterOrdinal? {
        let code = id & ~IndexDelta.Cluster.idBit
        guard !delta.isEmpty, id & IndexDelta.Cluster.idBit != 0, code >= 0, code < 1 << 37,
            let cluster = cluster(from: UInt32(code >> 5), zoom: Int(code & 31) - 1),
            deltaRow(Int(cluster.rawValue)) != nil
        else { return nil }
        return cluster
    }

    /// The cluster of a zoom that grew from a point; nil if there is none. O(zooms).
    func cluster(from point: UInt32, zoom: Int) -> ClusterOrdinal? {
        guard isAlive(point: Int(point)) else { return nil }
        var key = NodeKey(rawValue: point)
        // A node has an ancestor at most at each zoom; the bound also ends the walk in an index that is lost.
        for _ in 0...options.maximumZoom {
            let parent = parent(of: key)
            guard parent != NodeNumber.none else { return nil }
            let found = self.zoom(ofCluster: Int(parent))
            guard found >= zoom, origin(ofCluster: Int(parent)) == point else { return nil }
            let cluster = ClusterOrdinal(rawValue: parent)
            if found == zoom { return cluster }
            key = NodeKey(cluster)
        }
        return nil
    }
}
