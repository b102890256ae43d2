// SPDX-License-Identifier: MIT
import SystemSupport

/// Assembles an index of clusters that were formed in parts: that of `build` on the same points.
///
/// Clusters are given twice, in any order: first all of them, then all again with their children. Its arrays are the
/// large ones of a build; `FileBlocks.use` puts them into files.
public final class IndexAssembly {
    private let options: ClusteringOptions
    private let pointCount: Int
    private let parallel: Parallel
    private let points: Positions
    private let weights: Scratch<Double>?
    private let partitions: Scratch<UInt32>?
    private let firsts: [Int]
    /// By zoom: the orders of its clusters.
    private let grown: [RankBitmap?]
    private var table: ClusterTable

    private enum Positions {
        case float(PointColumns<Float>)
        case double(PointColumns<Double>)
    }

    /// - Parameters:
    ///   - counts: the number of clusters of each zoom from 0 to the deepest.
    public init(
        options: ClusteringOptions, pointCount: Int, counts: [Int], hasWeights: Bool, hasPartitions: Bool,
        threads: Int
    ) throws(ClusteringError) {
        try options.validate()
        let clusterCount = counts.reduce(0, +)
        guard pointCount + clusterCount < ClusterIndex.nodeLimit else { throw .tooManyPoints(pointCount) }
        (self.options, self.pointCount) = (options, pointCount)
        parallel = Parallel(.awake, threads: threads) { false }
        switch options.precision {
        case .float:
            points = .float(
                PointColumns(
                    x: Scratch(capacity: pointCount), y: Scratch(capacity: pointCount), count: pointCount))
        case .fixed, .double:
            points = .double(
                PointColumns(
                    x: Scratch(capacity: pointCount), y: Scratch(capacity: pointCount), count: pointCount))
        }
        let nodes = pointCount + clusterCount
        weights = hasWeights ? Scratch(capacity: nodes) : nil
        partitions = hasPartitions ? Scratch(capacity: nodes) : nil
        var first = 0
        var firsts = [Int](repeating: 0, count: counts.count)
        for zoom in counts.indices.reversed() {
            firsts[zoom] = first
            first += counts[zoom]
        }
        self.firsts = firsts
        grown = counts.map { $0 > 0 ? RankBitmap(empty: pointCount) : nil }
        table = ClusterTable(
            points: pointCount, clusters: clusterCount,
            ranges: counts.indices.map { zoom in
                guard zoom >= options.minimumZoom else { return 0..<0 }
                let first = firsts[zoom]
                return UInt32(truncatingIfNeeded: first)..<UInt32(truncatingIfNeeded: first + counts[zoom])
            })
    }

    /// Sets a point. Every order from 0 on must be given once.
    public func set(_ point: LevelNode) {
        let index = Int(point.order)
        guard index < pointCount else { return }
        switch points {
        case .float(let columns): (columns.x.base[index], columns.y.base[index]) = (Float(point.x), Float(point.y))
        case .double(let columns): (columns.x.base[index], columns.y.base[index]) = (point.x, point.y)
        }
        weights?.base[index] = point.weight
        partitions?.base[index] = point.partition
    }

    /// Says that there is a cluster.
    public func announce(_ cluster: FormedCluster) throws(ClusteringError) {
        guard Int(cluster.zoom) < grown.count, Int(cluster.order) < pointCount, let orders = grown[Int(cluster.zoom)]
        else { throw .invalidOptions("a cluster's name is not one of this build") }
        orders.insert(cluster.order)
    }

    /// Ends the announcements.
    public func endAnnouncements() { for orders in grown { orders?.recount() } }

    private func ordinal(_ name: NodeName) -> Int {
        firsts[Int(name.zoom)] + Int(grown[Int(name.zoom)]?.index(of: name.order) ?? 0)
    }

    private func number(_ name: NodeName) -> UInt32 {
        Int(name.zoom) > options.maximumZoom
            ? name.order : UInt32(truncatingIfNeeded: pointCount + ordinal(name))
    }

    /// Sets all of a cluster but its children.
    public func set(_ cluster: FormedCluster) {
        let ordinal = ordinal(cluster.name)
        (table.x.base[ordinal], table.y.base[ordinal]) = (cluster.x, cluster.y)
        table.counts.base[ordinal] = cluster.count
        table.zooms.base[ordinal] = UInt8(truncatingIfNeeded: cluster.zoom)
        // For now the number of its children, and the order of its origin.
        table.childStarts.base[ordinal + 1] = cluster.childCount
        table.originIndexes.base[ordinal] = cluster.order
        weights?.base[pointCount + ordinal] = cluster.weight
        if let partitions { partitions.base[pointCount + ordinal] = partitions.base[Int(cluster.order)] }
    }

    /// Ends the clusters: `setChildren` follows.
    public func endClusters() {
        table.childStarts.base[0] = 0
        for ordinal in 0..<table.count { table.childStarts.base[ordinal + 1] += table.childStarts.base[ordinal] }
        table.childCount = Int(table.childStarts.base[table.count])
        table.makeChildren()
    }

    /// Sets a cluster's children, the one from which it grew first.
    public func setChildren(_ children: [NodeName], of cluster: NodeName) {
        let ordinal = ordinal(cluster)
        var target = Int(table.childStarts.base[ordinal])
        for child in children {
            let node = number(child)
            table.children.base[target] = node
            table.parents.base[Int(node)] = UInt32(truncatingIfNeeded: ordinal)
            target += 1
        }
    }

    /// The index.
    public func finish() throws(ClusteringError) -> ClusterIndex {
        table.weights = weights
        table.partitions = partitions
        indexOrigins()
        switch points {
        case .float(let columns):
            return try ClusterIndex.assemble(table, columns, options, parallel) { .float($0) }
        case .double(let columns):
            return try ClusterIndex.assemble(table, columns, options, parallel) { .double($0) }
        }
    }

    /// Replaces each origin's order by its index in the list of the level below, as a build counts it.
    private func indexOrigins() {
        let alive = RankBitmap(count: pointCount, workers: 1)
        // By cluster, the order of its origin.
        let orders = Scratch<UInt32>(capacity: table.count)
        orders.base.update(from: table.originIndexes.base, count: table.count)
        let remover = alive.remover(0)
        for range in table.ranges.reversed() where !range.isEmpty {
            for ordinal in range.lowerBound..<range.upperBound {
                table.originIndexes.base[Int(ordinal)] = alive.index(of: orders.base[Int(ordinal)])
                let children = Int(table.childStarts.base[Int(ordinal)]) + 1
                for child in children..<Int(table.childStarts.base[Int(ordinal) + 1]) {
                    let node = table.children.base[child]
                    remover.remove(Int(node) < pointCount ? node : orders.base[Int(node) - pointCount])
                }
            }
            alive.settle()
            alive.recount()
        }
    }
}
