// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// A cluster's children: the node from which it grew, then those that joined it, in the order of their origins.
    public func children(of cluster: ClusterOrdinal) -> Children {
        Children(
            index: self, cluster: Int(cluster.rawValue),
            endIndex: layers.childCount(ofCluster: Int(cluster.rawValue)))
    }

    /// A cluster's children.
    public struct Children: RandomAccessCollection, Sendable {
        let index: ClusterIndex
        let cluster: Int
        public let endIndex: Int

        public var startIndex: Int { 0 }
        public subscript(position: Int) -> Node { index.layers.child(position, ofCluster: cluster).node }
    }
}
