// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// A cluster's children: the node from which it grew, then those that joined it, in the order of their origins.
    public func children(of cluster: ClusterOrdinal) -> Children {
        let places = layers.childPlaces(ofCluster: Int(cluster.rawValue))
        return Children(
            index: self, cluster: Int(cluster.rawValue), start: places.lowerBound, endIndex: places.count)
    }

    /// A cluster's children.
    public struct Children: RandomAccessCollection, Sendable {
        let index: ClusterIndex
        let cluster: Int
        /// The first child's place among the children of the layer that has the cluster.
        let start: Int
        public let endIndex: Int

        public var startIndex: Int { 0 }
        public subscript(position: Int) -> Node {
            index.layers.child(at: start &+ position, ofCluster: cluster).node
        }
    }
}
