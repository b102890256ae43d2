// SPDX-License-Identifier: MIT
import SystemSupport

/// The clusters of some zooms, made of the nodes of the level below them or of a part of these.
///
/// What all parts decide for certain, together with what becomes of the nodes that they leave open, is the result of
/// `ClusterIndex.build`.
public struct LevelGroup {
    private let table: ClusterTable
    private let nodes: UnsafeBufferPointer<LevelNode>
    private let zooms: ClosedRange<Int>
    /// By the first level's node: whether the part owns it.
    private let isOwned: Scratch<UInt8>
    /// By cluster: the first level's node from which it grew.
    private let origins: Scratch<UInt32>
    /// By the first level's node: one more than the zoom at which what grew from it was left open; nil: none was.
    private let marked: Scratch<UInt8>?
    private let openings: [(origin: UInt32, node: UInt32, zoom: UInt8)]

    /// Clusters nodes at some zooms.
    ///
    /// - Parameters:
    ///   - nodes: alive at the level below the zooms, in ascending order of `order`. Of a part, all that it knows. They must
    ///     stay valid and unchanged while the result is in use.
    ///   - options: with a `minimumPoints` of 1 or 2.
    ///   - part: what is to be decided; nil: the nodes are all there are.
    ///   - threads: how many cores may be used; the result does not depend on it.
    /// - Complexity: that of `ClusterIndex.build`, and O(nodes near the edge of what is known).
    public static func cluster(
        _ nodes: UnsafeBufferPointer<LevelNode>, _ options: ClusteringOptions, zooms: ClosedRange<Int>,
        part: LevelPart? = nil, threads: Int = 1, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(ClusteringError) -> LevelGroup {
        try options.validate()
        guard options.minimumPoints <= 2 else { throw .invalidOptions("only groups of any size can be made in parts") }
        guard 2 * nodes.count <= ClusterIndex.nodeLimit else { throw .tooManyPoints(nodes.count) }
        switch options.precision {
        case .float: return try group(nodes, options, zooms, part, threads, isCancelled, Float.self)
        case .fixed, .double: return try group(nodes, options, zooms, part, threads, isCancelled, Double.self)
        }
    }

    private static func group<Scalar: Coordinate>(
        _ nodes: UnsafeBufferPointer<LevelNode>, _ options: ClusteringOptions, _ zooms: ClosedRange<Int>,
        _ part: LevelPart?, _ threads: Int, _ isCancelled: @escaping @Sendable () -> Bool, _: Scalar.Type
    ) throws(ClusteringError) -> LevelGroup {
        let parallel = Parallel(.awake, threads: threads, isCancelled: isCancelled)
        var options = options
        (options.minimumZoom, options.maximumZoom) = (zooms.lowerBound, zooms.upperBound)
        let isOwned = Scratch<UInt8>(repeating: 1, count: nodes.count)
        let points = PointColumns<Scalar>(
            x: Scratch(capacity: nodes.count), y: Scratch(capacity: nodes.count), count: nodes.count)
        var hasPartitions = false
        for (index, node) in nodes.enumerated() {
            (points.x.base[index], points.y.base[index]) = (Scalar(node.x), Scalar(node.y))
            if part?.owns(x: node.x, y: node.y) == false { isOwned.base[index] = 0 }
            hasPartitions = hasPartitions || node.partition != 0
        }
        let border = part.map { LevelBorder<Scalar>($0, isOwned: isOwned, count: nodes.count) }
        let table = ClusterTable(of: nodes, zoomLimit: zooms.upperBound + 1, hasPartitions: hasPartitions)
        try IndexBuilder(points: points, table: table, border: border, options: options, parallel: parallel).run()
        return LevelGroup(
            table, nodes, zooms, isOwned, marked: border?.marked,
            openings: border?.openings.map { ($0.origin, $0.node, $0.zoom) } ?? [])
    }

    private init(
        _ table: ClusterTable, _ nodes: UnsafeBufferPointer<LevelNode>, _ zooms: ClosedRange<Int>,
        _ isOwned: Scratch<UInt8>, marked: Scratch<UInt8>?, openings: [(origin: UInt32, node: UInt32, zoom: UInt8)]
    ) {
        (self.table, self.nodes, self.zooms, self.isOwned) = (table, nodes, zooms, isOwned)
        (self.marked, self.openings) = (marked, openings)
        origins = Scratch(capacity: table.count - nodes.count)
        for ordinal in nodes.count..<table.count {
            let first = table.children.base[Int(table.childStarts.base[ordinal])]
            origins.base[ordinal - nodes.count] = origin(of: first)
        }
    }

    private func origin(of node: UInt32) -> UInt32 {
        Int(node) < nodes.count ? node : origins.base[Int(node) - nodes.count]
    }

    /// Whether the part owns a node of the first level and is certain what became, at a zoom, of the node that grew from it.
    private func isDecided(_ origin: UInt32, at zoom: Int) -> Bool {
        isOwned.base[Int(origin)] != 0 && Int(marked?.base[Int(origin)] ?? 0) <= zoom
    }

    /// Goes through the clusters: the deepest zoom first, those of a zoom in order.
    ///
    /// - Parameters:
    ///   - body: is called with each cluster that grew from a node that the part owns and that is certain, and with the names
    ///     of its children.
    ///   - taken: is called with the order of each of these children that another part owns, and the zoom.
    ///   - claimed: is called with each node that the part owns and that is certainly claimed by one of which the cluster
    ///     is not.
    public func forEachCluster<Failure: Error>(
        _ body: (FormedCluster, [NodeName]) throws(Failure) -> Void,
        taken: (NodeName) throws(Failure) -> Void = { _ in },
        claimed: (ClaimedNode) throws(Failure) -> Void = { _ in }
    ) throws(Failure) {
        // By the first level's node, the cluster of the zoom that grew from it.
        let grown = Scratch<UInt32>(repeating: NodeNumber.none, count: nodes.count)
        var names: [NodeName] = []
        var others: [UInt32] = []
        for zoom in zooms.reversed() {
            for ordinal in table.ranges[zoom] { grown.base[Int(origins.base[Int(ordinal) - nodes.count])] = ordinal }
            others.removeAll(keepingCapacity: true)
            for index in nodes.indices where grown.base[index] != NodeNumber.none {
                let ordinal = Int(grown.base[index])
                grown.base[index] = NodeNumber.none
                let children = Int(table.childStarts.base[ordinal])..<Int(table.childStarts.base[ordinal + 1])
                let isCertain = isDecided(UInt32(truncatingIfNeeded: index), at: zoom)
                names.removeAll(keepingCapacity: true)
                for child in children {
                    let node = table.children.base[child]
                    let origin = origin(of: node)
                    if isCertain {
                        names.append(name(of: node))
                        if isOwned.base[Int(origin)] == 0 { others.append(nodes[Int(origin)].order) }
                    } else if child > children.lowerBound, isDecided(origin, at: zoom) {
                        try claimed(
                            ClaimedNode(
                                self.node(node), claimant: nodes[index].order, zoom: UInt32(truncatingIfNeeded: zoom)))
                    }
                }
                if isCertain {
                    try body(cluster(ordinal, order: nodes[index].order, childCount: children.count), names)
                }
            }
            others.sort()
            for order in others { try taken(NodeName(zoom: UInt32(truncatingIfNeeded: zoom), order: order)) }
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

    private func node(_ node: UInt32) -> LevelNode {
        let origin = nodes[Int(origin(of: node))]
        guard Int(node) >= nodes.count else { return origin }
        let cluster = cluster(Int(node), order: origin.order, childCount: 0)
        return LevelNode(
            x: cluster.x, y: cluster.y, weight: cluster.weight, order: cluster.order, count: cluster.count,
            partition: origin.partition, zoom: cluster.zoom)
    }

    /// Calls `body` with each node that is alive at the lowest zoom, grew from a node that the part owns and is certain, in
    /// order.
    public func forEachSurvivor<Failure: Error>(_ body: (LevelNode) throws(Failure) -> Void) throws(Failure) {
        let alive = Scratch<UInt32>(repeating: NodeNumber.none, count: nodes.count)
        for node in 0..<table.count where table.parents.base[node] == NodeNumber.none {
            alive.base[Int(origin(of: UInt32(truncatingIfNeeded: node)))] = UInt32(truncatingIfNeeded: node)
        }
        for index in nodes.indices where alive.base[index] != NodeNumber.none {
            if isDecided(UInt32(truncatingIfNeeded: index), at: zooms.lowerBound) { try body(node(alive.base[index])) }
        }
    }

    /// Calls `body` with each node that grew from one that the part owns and that it leaves open, once: the deepest zoom
    /// first, those of a zoom in order.
    public func forEachOpenNode<Failure: Error>(_ body: (OpenNode) throws(Failure) -> Void) throws(Failure) {
        for opening in openings { try body(OpenNode(node(opening.node), zoom: UInt32(opening.zoom))) }
    }
}
