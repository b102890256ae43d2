// SPDX-License-Identifier: MIT

/// The levels that updates search often, in memory: the lowest ones but for the first, which is not searched. They belong
/// to the newest index of a chain of updates: an update takes them from the index that it changes and leaves them to the
/// one that it makes.
final class UpdatedLevels<Scalar: Coordinate>: KeptLevels, @unchecked Sendable {
    private final class Level {
        var nodes: LevelNodes<Scalar>?
    }

    private let levels: [Level]
    /// By level, how many nodes were visited before it was filled.
    private var visits: [Int]
    /// By level, about how many nodes it has; more than there is room for if they are not in memory.
    private let counts: [Int]
    private let lowest: Int
    /// How many more nodes may be kept.
    private var room: Int

    init(_ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>) {
        lowest = layers.options.minimumZoom
        // Counting would read much of an index that lies in a file.
        let isInMemory = layers.base.memory?.isResident ?? true
        counts = (0..<spatial.layout.levels).map { isInMemory ? spatial.count(level: $0) : .max }
        levels = counts.map { _ in Level() }
        visits = Array(repeating: 0, count: counts.count)
        room = min(Self.mostNodes, 2 * layers.base.pointCount)
    }

    /// Nodes take `LevelNodes.bytesOfNode` each, about 130 bytes.
    fileprivate static var mostNodes: Int { 1 << 21 }
    /// Filling a level takes as long per node as this part of a visit to a node outside of memory.
    private static var nodesPerVisit: Int { 16 }

    var memoryBytes: Int { levels.reduce(0) { $0 + ($1.nodes?.memoryBytes ?? 0) } }

    /// Forgets all nodes.
    func empty() {
        for index in levels.indices {
            if levels[index].nodes != nil { room += counts[index] }
            levels[index].nodes = nil
            visits[index] = 0
        }
    }

    /// Returns a level's nodes, if they are in memory, to be put back.
    func take(_ level: Int) -> LevelNodes<Scalar>? { levels[level - lowest].nodes.take() }

    func put(_ nodes: consuming LevelNodes<Scalar>, _ level: Int) { levels[level - lowest].nodes = .some(nodes) }

    /// The deepest level in memory; the lowest of all if there is none.
    var deepest: Int { lowest + (levels.indices.dropFirst().prefix { levels[$0].nodes != nil }.last ?? 0) }

    func has(_ level: Int) -> Bool { levels[level - lowest].nodes != nil }

    /// Notes how many nodes of a level were visited.
    func note(_ count: Int, _ level: Int) { visits[level - lowest] += count }

    /// Fills the levels that would have taken less time to visit had they been filled before.
    func fill(_ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>) {
        // The deepest level may be crowded, and the lowest is not searched.
        for index in levels.indices.dropFirst().dropLast() where levels[index].nodes == nil {
            // Those below it have fewer nodes, and changes reach them too.
            guard visits[index] * Self.nodesPerVisit >= counts[index], visits[index] > 0, counts[index] <= room else {
                return
            }
            fill(index, layers, spatial)
        }
    }

    /// Fills the levels with the fewest nodes ahead of time, as many as there is room for.
    func fillAll(_ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>) {
        for index in levels.indices.dropFirst().dropLast() where levels[index].nodes == nil {
            guard counts[index] <= room else { return }
            fill(index, layers, spatial)
        }
    }

    private func fill(_ index: Int, _ layers: LayeredIndex, _ spatial: SpatialIndex<Scalar>) {
        room -= counts[index]
        levels[index].nodes = LevelNodes(layers, spatial, lowest + index, capacity: counts[index])
    }

    /// The levels in memory.
    var filled: [Int] { levels.indices.filter { levels[$0].nodes != nil }.map { lowest + $0 } }
}

extension ClusterIndex {
    /// The most bytes of memory that `prepareForUpdates` takes.
    public var bytesOfPreparation: Int {
        min(UpdatedLevels<Float>.mostNodes, 2 * layers.base.pointCount) * LevelNodes<Double>.bytesOfNode
    }

    /// Reads ahead of time what updates search often and is not in memory yet, so that the first ones do not take longer
    /// than others. O(points). Does nothing if the index would have to be read from a file.
    public func prepareForUpdates() {
        guard takesUpdates, isResident else { return }
        var layers = layers
        layers.delta.open(options)
        func levels<Scalar>(_ spatial: SpatialIndex<Scalar>) -> any KeptLevels {
            let levels = takeLevels() as? UpdatedLevels<Scalar> ?? UpdatedLevels(layers, spatial)
            levels.fillAll(layers, spatial)
            return levels
        }
        switch layers.base.spatial {
        case .float(let spatial): keep(levels(spatial))
        case .double(let spatial): keep(levels(spatial))
        }
    }
}
