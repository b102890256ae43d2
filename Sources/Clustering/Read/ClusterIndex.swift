// SPDX-License-Identifier: MIT
import Synchronization

/// Points clustered at every zoom, as supercluster clusters them. Immutable, and safe to share.
///
/// It stores the points' positions and which clusters contain them. The caller stores everything else about
/// points, by `PointIndex`. An index takes about 35 to 65 bytes per point.
public final class ClusterIndex: Sendable {
    let layers: LayeredIndex
    /// Shared by an index and all indexes derived from it by updates, and by no other index of this process.
    /// Within a lineage an ordinal always denotes the same cluster.
    public let lineage: UInt64

    private static let lineages = Atomic<UInt64>(0)

    /// What the next update of the index uses; nil if one has.
    private let keptLevels: Mutex<(any KeptLevels)?>

    init(_ layers: LayeredIndex, lineage: UInt64? = nil, levels: (any KeptLevels)? = nil) {
        keptLevels = Mutex(levels)
        self.lineage = lineage ?? Self.lineages.add(1, ordering: .relaxed).newValue
        self.layers = layers
    }

    /// The levels that former updates filled, for one caller.
    func takeLevels() -> (any KeptLevels)? { keptLevels.withLock { $0.take() } }

    /// Gives the next update levels that were filled ahead of time.
    func keep(_ levels: any KeptLevels) { keptLevels.withLock { $0 = levels } }

    public var options: ClusteringOptions { layers.base.options }

    /// How coordinates become positions: one of the options.
    public var projection: Projection { layers.base.options.projection }

    /// The number of points.
    public var pointCount: Int { layers.delta.pointCount }

    /// The number of clusters, over all zooms.
    public var clusterCount: Int { layers.delta.clusterCount }

    /// The index's memory in bytes, without what lies in memory that is not its own.
    public var memoryBytes: Int {
        (layers.base.memory?.isEvictable == true ? 0 : layers.base.byteCount) + layers.delta.memoryBytes
            + keptLevels.withLock { $0?.memoryBytes ?? 0 }
    }

    /// The bytes of columns that may have to be read from a file.
    public var fileBytes: Int { layers.base.memory?.isEvictable == true ? layers.base.byteCount : 0 }

    /// Whether a query does not wait for a disk.
    public var isResident: Bool { layers.base.memory?.isResident ?? true }

    /// Whether a part of the file could not be read: then answers are wrong. Never becomes false again. To be
    /// checked after an answer was made, since the file is read meanwhile.
    public var isLost: Bool { layers.base.memory?.isDamaged ?? false }

    /// Whether the index has no delta: it was built as a whole and not updated since.
    public var isPlain: Bool { layers.delta.isEmpty }

    /// The number of nodes in the delta. The cost of an update and of a large query grows with it, until the
    /// index is rebuilt as a whole.
    public var deltaSize: Int { layers.delta.size }

    /// The level that answers at a zoom: its floor, within `minimumZoom` to `maximumZoom + 1`.
    ///
    /// - Parameter zoom: any number; not-a-number gives the lowest level.
    public func level(for zoom: Double) -> Zoom {
        let floor = zoom.rounded(.down)
        guard floor > Double(options.minimumZoom) else { return Zoom(rawValue: options.minimumZoom) }
        guard floor <= Double(options.maximumZoom) else { return Zoom(rawValue: options.maximumZoom + 1) }
        return Zoom(rawValue: Int(floor))
    }
}
