// SPDX-License-Identifier: MIT

/// Reads a level of an index.
extension LevelNodes {
    /// What an index has of a node.
    private struct Known {
        let key: NodeKey
        let x: Double
        let y: Double
        /// Whether it is the base's: the delta may hide it.
        let isOfBase: Bool
        var order = OrderLabel.unclaimed
        var parent = NodeNumber.none
        var isHidden = false
        var isMade = false
    }

    /// How many nodes are looked up together.
    private static var batchCount: Int { 256 }

    /// The nodes of a level of an index.
    ///
    /// - Parameter capacity: about their number.
    init(_ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>, _ number: Int, capacity: Int) {
        self.init(LevelRadius(layers.options.unitRadius(at: number - 1)), capacity: capacity)
        var batch: [Known] = []
        _ = spatial.visit(UnitBox(around: 0.5, 0.5, reach: 2), zoom: number) { slot in
            batch.append(
                Known(key: layers.key(ofBase: slot.node), x: Double(slot.x), y: Double(slot.y), isOfBase: true))
            if batch.count == Self.batchCount { insert(&batch, layers, number) }
            return true
        }
        let added = layers.delta.levels[number - layers.options.minimumZoom].entries
        for node in added.values {
            batch.append(Known(key: node.key, x: node.x, y: node.y, isOfBase: false))
            if batch.count == Self.batchCount { insert(&batch, layers, number) }
        }
        insert(&batch, layers, number)
    }

    /// Adds nodes of a level and empties `batch`. Each loop reads what lies apart for each node, so that the waits for
    /// memory overlap.
    private mutating func insert(_ batch: inout [Known], _ layers: LayeredIndex, _ level: Int) {
        for known in batch {
            fetch(cell(known.x), cell(known.y))
            layers.delta.parents.fetch(known.key.rawValue)
            if known.isOfBase { layers.delta.tombstones.fetch(known.key.rawValue) }
        }
        for index in batch.indices where batch[index].isOfBase {
            batch[index].isHidden = layers.delta.hides(batch[index].key, at: level)
        }
        for index in batch.indices { batch[index].order = layers.order(of: batch[index].key) }
        for index in batch.indices { batch[index].parent = layers.parent(of: batch[index].key) }
        for index in batch.indices where batch[index].parent != NodeNumber.none {
            batch[index].isMade = layers.zoom(ofCluster: Int(batch[index].parent)) == level - 1
        }
        for known in batch where !known.isHidden {
            insert(
                Entry(
                    known.key, at: (known.x, known.y), order: known.order,
                    cluster: known.isMade ? known.parent : NodeNumber.none, in: layers))
        }
        batch.removeAll(keepingCapacity: true)
    }
}

extension LevelNodes.Entry {
    /// A node as the pass of its level left it.
    ///
    /// - Parameters:
    ///   - place: its position as compared.
    ///   - cluster: the cluster that the pass put it in, or `NodeNumber.none`.
    fileprivate init(
        _ key: NodeKey, at place: LevelNodes.Place, order: OrderLabel, cluster: UInt32, in layers: LayeredIndex
    ) {
        let claimant =
            cluster == NodeNumber.none ? order : layers.order(of: NodeKey(ClusterOrdinal(rawValue: cluster)))
        let center = key.isCluster ? layers.center(ofCluster: key.number) : place
        self.init(
            key, x: center.x, y: center.y, order: order, claim: claimant == order ? .unclaimed : claimant,
            weight: layers.weight(of: key), cluster: cluster, count: layers.pointCount(of: key),
            partition: layers.partition(of: key), levelsInBase: layers.levelsInBase(key))
    }

    /// A node that comes to an index's level.
    ///
    /// - Parameter claim: `arrived`, or `unclaimed` if it is known to pass to the next level unchanged.
    init(_ key: NodeKey, claim: OrderLabel, in layers: LayeredIndex, _ positions: PointPositionCache<Scalar>) {
        let (x, y) = layers.exact(key, positions)
        self.init(
            key, x: x, y: y, order: layers.order(of: key), claim: claim, weight: layers.weight(of: key),
            count: layers.pointCount(of: key), partition: layers.partition(of: key),
            levelsInBase: layers.levelsInBase(key))
    }

    /// A node of an index's level.
    init(_ key: NodeKey, at place: LevelNodes.Place, level: Int, in layers: LayeredIndex) {
        let parent = layers.parent(of: key)
        let isMade = parent != NodeNumber.none && layers.zoom(ofCluster: Int(parent)) == level - 1
        self.init(
            key, at: place, order: layers.order(of: key), cluster: isMade ? parent : NodeNumber.none, in: layers)
    }
}
