// SPDX-License-Identifier: MIT

/// Points clustered at every zoom, as supercluster 8 clusters them; immutable, and safe to share.
///
/// It knows where points are and which clusters hold them, nothing else of them: what they are called and
/// carry is the caller's, by `PointIndex`. An index costs some 35 to 65 bytes a point.
public final class ClusterIndex: Sendable {
    public let options: ClusteringOptions
    /// How many points there are.
    public let pointCount: Int
    /// How many clusters there are, over all zooms.
    public let clusterCount: Int

    let columns: ClusterColumns
    let spatial: Spatial

    /// Positions in the precision that the options ask for.
    enum Spatial: Sendable {
        case float(SpatialIndex<Float>)
        case double(SpatialIndex<Double>)
    }

    init(options: ClusteringOptions, pointCount: Int, columns: ClusterColumns, spatial: Spatial) {
        self.options = options
        self.pointCount = pointCount
        self.clusterCount = columns.counts.count
        self.columns = columns
        self.spatial = spatial
    }

    /// The memory that the index holds, in bytes.
    public var memoryBytes: Int {
        let spatialBytes =
            switch spatial {
            case .float(let index): index.memoryBytes
            case .double(let index): index.memoryBytes
            }
        return columns.memoryBytes + spatialBytes
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

    @inline(__always) func node(_ number: UInt32) -> Node {
        Node(number: number, pointCount: pointCount)
    }

    @inline(__always) func number(_ node: Node) -> Int {
        switch node {
        case .point(let point): Int(point.rawValue)
        case .cluster(let cluster): Int(cluster.rawValue) + pointCount
        }
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
            + childStarts.memoryBytes + children.memoryBytes + leafStarts.memoryBytes + leaves.memoryBytes
            + parents.memoryBytes + (weights?.memoryBytes ?? 0) + (partitions?.memoryBytes ?? 0)
    }
}
