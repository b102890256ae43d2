// SPDX-License-Identifier: MIT
import Synchronization

/// Points clustered at every zoom, as supercluster 8 clusters them; immutable, and safe to share.
///
/// It knows where points are and which clusters hold them, nothing else of them: what they are called and
/// carry is the caller's, by `PointIndex`. An index costs some 35 to 65 bytes a point.
public final class ClusterIndex: Sendable {
    public let options: ClusteringOptions
    /// How many points were there when the index was built: nodes of its arrays are numbered by it.
    let basePointCount: Int
    let columns: ClusterColumns
    let spatial: Spatial
    /// Changes since; nil where there are none.
    let overlay: IndexOverlay?
    /// The same for an index and all that updates make of it, and for no other of this process. Within a lineage
    /// a cluster's ordinal always stands for the same cluster, if for any.
    public let lineage: UInt64

    private static let lineages = Atomic<UInt64>(0)

    /// Positions in the precision that the options ask for.
    enum Spatial: Sendable {
        case float(SpatialIndex<Float>)
        case double(SpatialIndex<Double>)
    }

    init(
        options: ClusteringOptions, pointCount: Int, columns: ClusterColumns, spatial: Spatial,
        overlay: IndexOverlay? = nil, lineage: UInt64? = nil
    ) {
        self.lineage = lineage ?? Self.lineages.add(1, ordering: .relaxed).newValue
        self.options = options
        self.basePointCount = pointCount
        self.columns = columns
        self.spatial = spatial
        self.overlay = overlay
    }

    /// How many points there are.
    public var pointCount: Int { overlay?.state.pointCount ?? basePointCount }

    /// How many clusters there are, over all zooms.
    public var clusterCount: Int { overlay?.state.clusterCount ?? columns.counts.count }

    /// The memory that the index holds, in bytes.
    public var memoryBytes: Int {
        let spatialBytes =
            switch spatial {
            case .float(let index): index.memoryBytes
            case .double(let index): index.memoryBytes
            }
        return columns.memoryBytes + spatialBytes + (overlay?.state.memoryBytes ?? 0)
    }

    /// The level that answers at a zoom: its floor, within `minimumZoom` to `maximumZoom + 1`.
    ///
    /// - Parameter zoom: any number; not-a-number is the shallowest level.
    public func level(for zoom: Double) -> Zoom {
        let floor = zoom.rounded(.down)
        guard floor > Double(options.minimumZoom) else { return Zoom(rawValue: options.minimumZoom) }
        guard floor <= Double(options.maximumZoom) else { return Zoom(rawValue: options.maximumZoom + 1) }
        return Zoom(rawValue: Int(floor))
    }
}

/// The clusters' columns, by ordinal, and the tree that they make.
///
/// Invariant: all columns by ordinal have the same count; `childStarts` has one more and ascends, its last
/// being `children`'s count; `leafStarts[c] + counts[c]` is within `leaves`.
struct ClusterColumns: Sendable {
    let x: Column<Double>
    let y: Column<Double>
    let counts: Column<UInt32>
    let zooms: Column<UInt8>
    let originIndexes: Column<UInt32>
    /// By zoom, as `ranges` has it: ordinals by ascending origin index, by which ids are found.
    let ordinalsByOrigin: Column<UInt32>
    let childStarts: Column<UInt32>
    let children: Column<UInt32>
    let leafStarts: Column<UInt32>
    let leaves: Column<UInt32>
    /// By node, points first.
    let parents: Column<UInt32>
    let weights: Column<Double>?
    let partitions: Column<UInt32>?
    /// By zoom.
    let ranges: [Range<UInt32>]

    var memoryBytes: Int {
        x.memoryBytes + y.memoryBytes + counts.memoryBytes + zooms.memoryBytes + originIndexes.memoryBytes
            + ordinalsByOrigin.memoryBytes + childStarts.memoryBytes + children.memoryBytes
            + leafStarts.memoryBytes + leaves.memoryBytes
            + parents.memoryBytes + (weights?.memoryBytes ?? 0) + (partitions?.memoryBytes ?? 0)
    }
}
