// SPDX-License-Identifier: MIT

/// A number for each of some nodes, by key. Copies share memory that neither has written.
///
/// Few numbers are in a table. More are in arrays with room for all nodes of the base if these are not too many: a table
/// that grows is copied as a whole each time, and changes would wait for that.
struct NodeNumbers: Sendable {
    private var points = PagedArray<UInt32>()
    private var clusters = PagedArray<UInt32>()
    /// Those of other nodes; of all, before they move to arrays.
    private var table = PagedNumberMap()
    private var isInArrays = false
    /// In place of a number, where a node has none.
    private let absent: UInt32
    /// The nodes of the base.
    private let (pointCount, clusterCount): (Int, Int)
    /// The most numbers in the table before they move to arrays.
    private let mostInTable: Int

    /// The most nodes of which there are arrays: of four bytes each, and as many again once they change.
    private static var mostInArrays: Int { 1 << 22 }

    /// - Parameters:
    ///   - points: how many the base has. Likewise the clusters.
    ///   - absent: no node's number.
    init(points: Int, clusters: Int, absent: UInt32) {
        self.absent = absent
        (pointCount, clusterCount) = (points, clusters)
        let nodes = points + clusters
        mostInTable = nodes > Self.mostInArrays ? .max : max(1024, nodes / 32)
    }

    private mutating func moveToArrays() {
        points = PagedArray(repeating: absent, count: pointCount)
        clusters = PagedArray(repeating: absent, count: clusterCount)
        isInArrays = true
        let all = table
        table = PagedNumberMap()
        all.forEach { set($0, $1) }
    }

    var memoryBytes: Int { points.memoryBytes + clusters.memoryBytes + table.memoryBytes }

    @inline(__always) subscript(key: UInt32) -> UInt32? {
        let node = NodeKey(rawValue: key)
        let number: UInt32
        if node.isCluster {
            guard node.number < clusters.count else { return table[key] }
            number = clusters[node.number]
        } else {
            guard node.number < points.count else { return table[key] }
            number = points[node.number]
        }
        return number == absent ? nil : number
    }

    mutating func set(_ key: UInt32, _ number: UInt32) {
        if table.count > mostInTable, !isInArrays { moveToArrays() }
        let node = NodeKey(rawValue: key)
        if node.isCluster {
            guard node.number < clusters.count else { return table.set(key, number) }
            clusters[node.number] = number
        } else {
            guard node.number < points.count else { return table.set(key, number) }
            points[node.number] = number
        }
    }

    /// Fetches the memory of a node's number.
    @inline(__always) func fetch(_ key: UInt32) {
        let node = NodeKey(rawValue: key)
        if node.isCluster {
            if node.number < clusters.count { clusters.fetch(node.number) } else { table.fetch(key) }
        } else {
            if node.number < points.count { points.fetch(node.number) } else { table.fetch(key) }
        }
    }

    /// All keys with their numbers, in no particular order.
    var entries: [NumberSlot] {
        let ofPoints = points.indices.lazy.map { number in
            NumberSlot(key: UInt32(truncatingIfNeeded: number), value: points[number])
        }
        let ofClusters = clusters.indices.lazy.map { number in
            NumberSlot(
                key: NodeKey(ClusterOrdinal(rawValue: UInt32(truncatingIfNeeded: number))).rawValue,
                value: clusters[number])
        }
        return ofPoints.filter { $0.value != absent } + ofClusters.filter { $0.value != absent } + table.entries
    }
}
