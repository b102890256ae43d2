// SPDX-License-Identifier: MIT
import SystemSupport

/// The clusters of some zooms, made of the nodes of the level below them or of a part of these.
///
/// The result for all nodes at once, and that of parts together, are those of `ClusterIndex.build`.
public struct LevelGroup {
    private let table: ClusterTable
    private let nodes: UnsafeBufferPointer<LevelNode>
    private let zooms: ClosedRange<Int>
    /// By the first level's node: whether the part owns it.
    private let isOwned: Scratch<UInt8>
    /// By cluster: the first level's node from which it grew.
    private let origins: Scratch<UInt32>

    /// Clusters nodes at some zooms.
    ///
    /// - Parameters:
    ///   - nodes: alive at the level below the zooms, in ascending order of `order`. Of a part, all that it knows. They must
    ///     stay valid and unchanged while the result is in use.
    ///   - options: with a `minimumPoints` of 1 or 2.
    ///   - parts: what is to be decided: one part, or any number if the nodes are all there are; none for everything.
    ///   - isWhole: whether the nodes are all there are.
    ///   - threads: how many cores may be used; the result does not depend on it.
    /// - Returns: nil if something in the part depends on nodes that it does not know.
    /// - Complexity: that of `ClusterIndex.build`, and O(nodes near the edge of what is known).
    public static func cluster(
        _ nodes: UnsafeBufferPointer<LevelNode>, _ options: ClusteringOptions, zooms: ClosedRange<Int>,
        parts: [LevelPart],
        isWhole: Bool, threads: Int = 1, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> LevelGroup? {
        try options.validate()
        guard isWhole || parts.count == 1 else { throw .invalidOptions("nodes around one part are known at a time") }
        guard options.minimumPoints <= 2 else { throw .invalidOptions("only groups of any size can be made in parts") }
        guard 2 * nodes.count <= ClusterIndex.nodeLimit else { throw .tooManyPoints(nodes.count) }
        switch options.precision {
        case .float: return try group(nodes, options, zooms, parts, isWhole, threads, isCancelled, Float.self)
        case .fixed, .double: return try group(nodes, options, zooms, parts, isWhole, threads, isCancelled, Double.self)
        }
    }

    private static func group<Scalar: Coordinate>(
        _ nodes: UnsafeBufferPointer<LevelNode>, _ options: ClusteringOptions, _ zooms: ClosedRange<Int>,
        _ parts: [LevelPart], _ isWhole: Bool, _ threads: Int, _ isCancelled: @escaping @Sendable () -> Bool,
        _: Scalar.Type
    ) throws(ClusteringError) -> LevelGroup? {
        let parallel = Parallel(.awake, threads: threads, isCancelled: isCancelled)
        var options = options
        (options.minimumZoom, options.maximumZoom) = (zooms.lowerBound, zooms.upperBound)
        let isOwned = Scratch<UInt8>(repeating: 1, count: nodes.count)
        let points = PointColumns<Scalar>(
            x: Scratch(capacity: nodes.count), y: Scratch(capacity: nodes.count), count: nodes.count)
        var hasPartitions = false
        for (index, node) in nodes.enumerated() {
            (points.x.base[index], points.y.base[index]) = (Scalar(node.x), Scalar(node.y))
            if !parts.isEmpty, !parts.contains(where: { $0.owns(x: node.x, y: node.y) }) { isOwned.base[index] = 0 }
            hasPartitions = hasPartitions || node.partition != 0
        }
        let border =
            isWhole ? nil : parts.first.map { LevelBorder<Scalar>($0, isOwned: isOwned, count: nodes.count) }
        let table = ClusterTable(of: nodes, zoomLimit: zooms.upperBound + 1, hasPartitions: hasPartitions)
        try IndexBuilder(points: points, table: table, border: border, options: options, parallel: parallel).run()
        if border?.isOpen == true { return nil }
        return LevelGroup(table, nodes, zooms, isOwned)
    }

    private init(
        _ table: ClusterTable, _ nodes: UnsafeBufferPointer<LevelNode>, _ zooms: ClosedRange<Int>,
        _ isOwned: Scratch<UInt8>
    ) {
        (self.table, self.nodes, self.zooms, self.isOwned) = (table, nodes, zooms, isOwned)
        origins = Scratch(capacity: table.count - nodes.count)
        for ordinal in nodes.count..<table.count {
            let first = table.children.base[Int(table.childStarts.base[ordinal])]
            origins.base[ordinal - nodes.count] = origin(of: first)
        }
    }

    private func origin(of node: UInt32) -> UInt32 {
        Int(node) < nodes.count ? node : origins.base[Int(node) - nodes.count]
    }

    /// Calls `body` with each cluster that grew from a node that the part owns, and with the names of its children: the
    /// deepest zoom first, those of a zoom in order.
    public func forEachCluster<Failure: Error>(
        _ body: (FormedCluster, [NodeName]) throws(Failure) -> Void
    ) throws(Failure) {
        // By the first level's node, the cluster of the zoom that grew from it.
        let grown = Scratch<UInt32>(repeating: NodeNumber.none, count: nodes.count)
        var children: [NodeName] = []
        for zoom in zooms.reversed() {
            for ordinal in table.ranges[zoom] { grown.base[Int(origins.base[Int(ordinal) - nodes.count])] = ordinal }
            for index in nodes.indices where grown.base[index] != NodeNumber.none {
                let ordinal = Int(grown.base[index])
                grown.base[index] = NodeNumber.none
                guard isOwned.base[index] != 0 else { continue }
                let range = Int(table.childStarts.base[ordinal])..<Int(table.childStarts.base[ordinal + 1])
                children.removeAll(keepingCapacity: true)
                for child in range { children.append(name(of: table.children.base[child])) }
                try body(cluster(ordinal, order: nodes[index].order, childCount: range.count), children)
            }
        }
    }

    private func name(of node: UInt32) -> NodeName {
        NodeName(zoom: UInt32(table.zooms.base[Int(node)]), order: nodes[Int(origin(of: node))].order)
    }

    private func cluster(_ ordinal: Int, order: UInt32, childCount: Int) -> FormedCluster {
        let count = table.counts.base[ordinal]
        return FormedCluster(
            x: table.x.base[ordinal], y: table.y.base[ordinal],
            weight: table.weights?.base[ordinal] ?? Double(count), order: order, count: count,
            zoom: UInt32(table.zooms.base[ordinal]), childCount: UInt32(truncatingIfNeeded: childCount))
    }

    /// Calls `body` with each node that is alive at the lowest zoom and grew from a node that the part owns, in order.
    public func forEachSurvivor<Failure: Error>(_ body: (LevelNode) throws(Failure) -> Void) throws(Failure) {
        let alive = Scratch<UInt32>(repeating: NodeNumber.none, count: nodes.count)
        for node in 0..<table.count where table.parents.base[node] == NodeNumber.none {
            alive.base[Int(origin(of: UInt32(truncatingIfNeeded: node)))] = UInt32(truncatingIfNeeded: node)
        }
        for index in nodes.indices where isOwned.base[index] != 0 && alive.base[index] != NodeNumber.none {
            let node = Int(alive.base[index])
            guard node >= nodes.count else {
                try body(nodes[index])
                continue
            }
            let cluster = cluster(node, order: nodes[index].order, childCount: 0)
            try body(
                LevelNode(
                    x: cluster.x, y: cluster.y, weight: cluster.weight, order: cluster.order, count: cluster.count,
                    partition: nodes[index].partition, zoom: cluster.zoom))
        }
    }
}
