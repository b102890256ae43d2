// SPDX-License-Identifier: MIT
import Synchronization

/// Points clustered at every zoom, as supercluster clusters them. Immutable, and safe to share.
///
/// It knows where points are and which clusters contain them. The caller keeps everything else about them, by
/// `PointIndex`. An index takes about 35 to 65 bytes a point.
public final class ClusterIndex: Sendable {
    let layers: LayeredIndex
    /// The same for an index and all indexes that updates make of it; no other index of this process has it. Within a lineage
    /// an ordinal always stands for the same cluster.
    public let lineage: UInt64

    private static let lineages = Atomic<UInt64>(0)

    init(_ layers: LayeredIndex, lineage: UInt64? = nil) {
        self.lineage = lineage ?? Self.lineages.add(1, ordering: .relaxed).newValue
        self.layers = layers
    }

    public var options: ClusteringOptions { layers.base.options }

    /// How many points there are.
    public var pointCount: Int { layers.delta.pointCount }

    /// How many clusters there are, over all zooms.
    public var clusterCount: Int { layers.delta.clusterCount }

    /// The memory that the index takes, in bytes.
    public var memoryBytes: Int { layers.base.memoryBytes + layers.delta.memoryBytes }

    /// Whether the index has no delta: it was built as a whole and not updated since.
    public var isPlain: Bool { layers.delta.isEmpty }

    /// How many nodes the delta holds. The cost of an update and of a large query grows with it, until an index is built
    /// again as a whole.
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
