// SPDX-License-Identifier: MIT

/// One of the arrays that make up an index's delta, as a checkpoint names it. Raw values are part of the
/// checkpoint's format and never change their meaning.
public enum DeltaSection: UInt32, CaseIterable, Sendable {
    /// The base's numbers of points and clusters, then the delta's: see `IndexDelta.counts`.
    case counts = 1
    case removedPoints = 2
    case placed = 3
    case placements = 4
    case clusters = 5
    case children = 6
    case parents = 7
    case tombstones = 8
    /// By level: the number of nodes, 32 bits each.
    case levelCounts = 9
    /// The nodes of all levels, one after another.
    case levels = 10
}

extension ClusterIndex {
    /// The parts of the delta, in the machine's byte order. O(the delta).
    public var deltaSections: [(section: DeltaSection, bytes: [UInt8])] {
        let delta = layers.delta
        func bytes<Value: BitwiseCopyable>(_ values: some Sequence<Value>) -> [UInt8] {
            Array(values).withUnsafeBytes { Array($0) }
        }
        return [
            (.counts, bytes(delta.counts(over: layers.base))), (.removedPoints, bytes(delta.removedPoints)),
            (.placed, bytes(delta.placed.entries)), (.placements, bytes(delta.placements.values)),
            (.clusters, bytes(delta.clusters.indices.lazy.map { StoredCluster(of: delta, row: $0) })),
            (.children, bytes(delta.children.values)),
            (.parents, bytes(delta.parents.entries)), (.tombstones, bytes(delta.tombstones.entries)),
            (.levelCounts, bytes(delta.levels.map { UInt32(truncatingIfNeeded: $0.entries.count) })),
            (.levels, bytes(delta.levels.lazy.flatMap(\.entries.values))),
        ]
    }

    /// This index, which has no delta, with one that `deltaSections` has; nil if the sections do not fit
    /// together or this index.
    ///
    /// - Parameter sections: their bytes, which need not be aligned.
    /// - Complexity: O(the delta).
    public func with(deltaSections sections: [DeltaSection: UnsafeRawBufferPointer]) -> ClusterIndex? {
        guard isPlain, var delta = IndexDelta(over: layers.base, sections) else { return nil }
        var layers = layers
        swap(&layers.delta, &delta)
        return ClusterIndex(layers, lineage: lineage)
    }

    /// All changes since the index was built, as one update.
    public var changesOfBase: IndexUpdate {
        let made =
            UInt32(truncatingIfNeeded: layers.base.clusterCount)..<UInt32(truncatingIfNeeded: layers.clusterLimit)
        return IndexUpdate(index: self, made: made)
    }

    /// Whether a cluster exists: updates leave the ordinals of former clusters unused.
    public func isAlive(_ cluster: ClusterOrdinal) -> Bool { layers.isAlive(cluster: Int(cluster.rawValue)) }
}

/// A cluster as a checkpoint has it.
private struct StoredCluster: BitwiseCopyable {
    let x: Double
    let y: Double
    let weight: Double
    let partition: UInt32
    let count: UInt32
    let origin: UInt32
    let childStart: UInt32
    let childCount: UInt32
    let parent: UInt32
    let zoom: UInt8
    let isAlive: Bool

    init(of delta: IndexDelta, row: Int) {
        let cluster = delta.clusters[row]
        (x, y, weight) = (cluster.x, cluster.y, cluster.weight)
        (partition, count, origin) = (cluster.partition, cluster.count, cluster.origin)
        (childStart, childCount, zoom) = (cluster.childStart, cluster.childCount, cluster.zoom)
        (parent, isAlive) = (delta.clusterParents[row], delta.isAlive(row: row))
    }

    var cluster: IndexDelta.Cluster {
        IndexDelta.Cluster(
            x: x, y: y, weight: weight, partition: partition, count: count, origin: origin, childStart: childStart,
            childCount: childCount, zoom: zoom)
    }
}

extension IndexDelta {
    /// The base's numbers of points and clusters, to which the delta belongs, and the delta's own numbers.
    fileprivate func counts(over base: BaseIndex) -> [UInt64] {
        [base.pointCount, base.clusterCount, pointLimit, hasLabels ? 1 : 0, pointCount, clusterCount].map { UInt64($0) }
    }

    /// Nil if the sections do not fit together or the base.
    fileprivate init?(over base: BaseIndex, _ sections: [DeltaSection: UnsafeRawBufferPointer]) {
        func values<Value: BitwiseCopyable>(_ section: DeltaSection) -> [Value]? {
            let size = MemoryLayout<Value>.stride
            guard let bytes = sections[section], bytes.count % size == 0 else { return nil }
            return (0..<bytes.count / size).map {
                bytes.loadUnaligned(fromByteOffset: $0 * size, as: Value.self)
            }
        }
        self.init(over: base)
        open(base.options)
        guard let counts: [UInt64] = values(.counts), counts.count == 6,
            counts[0] == UInt64(base.pointCount), counts[1] == UInt64(base.clusterCount),
            let limit = Int(exactly: counts[2]), let points = Int(exactly: counts[4]),
            let clusters = Int(exactly: counts[5]),
            let removed: [UInt32] = values(.removedPoints), let placed: [NumberSlot] = values(.placed),
            let placements: [PlacedPoint] = values(.placements), let made: [StoredCluster] = values(.clusters),
            let children: [NodeKey] = values(.children), let parents: [NumberSlot] = values(.parents),
            let tombstones: [NumberSlot] = values(.tombstones),
            let levelCounts: [UInt32] = values(.levelCounts), let nodes: [NodeGrid.Entry] = values(.levels),
            levelCounts.count == levels.count,
            levelCounts.reduce(UInt64(0), { $0 + UInt64($1) }) == UInt64(nodes.count),
            placed.allSatisfy({ Int($0.value) < placements.count }),
            made.allSatisfy({ Int($0.childStart) + Int($0.childCount) <= children.count })
        else { return nil }
        (pointLimit, hasLabels, pointCount, clusterCount) = (limit, counts[3] == 1, points, clusters)
        removedPoints = removed
        for placement in placements { self.placements.append(placement) }
        for stored in made { append(stored.cluster, parent: stored.parent, isAlive: stored.isAlive) }
        for child in children { self.children.append(child) }
        for slot in placed {
            self.placed.set(slot.key, slot.value)
            let placement = placements[Int(slot.value)]
            places.insert(NodeKey(rawValue: slot.key), x: placement.x, y: placement.y)
        }
        for slot in parents { self.parents.set(slot.key, slot.value) }
        for slot in tombstones { self.tombstones.set(slot.key, slot.value) }
        var start = 0
        for (level, count) in levelCounts.enumerated() {
            for node in nodes[start..<start + Int(count)] {
                levels[level].insert(node.key, x: node.x, y: node.y)
            }
            start += Int(count)
        }
    }
}
