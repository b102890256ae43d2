// SPDX-License-Identifier: MIT
/// An index as built: points, clusters and their positions. Updates never change it; they add a delta.
///
/// Nodes are numbered by `pointCount`: points first, then clusters.
final class BaseIndex: Sendable {
    let options: ClusteringOptions
    let pointCount: Int
    let columns: ClusterColumns
    let spatial: Spatial
    /// Where the columns lie; nil if the index owns them.
    let memory: (any IndexMemory)?

    /// Positions in the number type that the options select.
    enum Spatial: Sendable {
        case float(SpatialIndex<Float>)
        case double(SpatialIndex<Double>)
    }

    init(
        options: ClusteringOptions, pointCount: Int, columns: ClusterColumns, spatial: Spatial,
        memory: (any IndexMemory)? = nil
    ) {
        self.options = options
        self.pointCount = pointCount
        self.columns = columns
        self.spatial = spatial
        self.memory = memory
    }

    var clusterCount: Int { columns.counts.count }

    /// Bytes of the columns.
    var byteCount: Int {
        let spatialBytes =
            switch spatial {
            case .float(let index): index.memoryBytes
            case .double(let index): index.memoryBytes
            }
        return columns.memoryBytes + spatialBytes
    }

    /// A cluster's id as supercluster computes it.
    @inline(__always) func id(ofCluster ordinal: Int) -> Int64 {
        (Int64(columns.originIndexes[ordinal]) &<< 5 | Int64(columns.zooms[ordinal]) &+ 1) &+ Int64(pointCount)
    }

    /// The cluster with an id; nil if there is none. O(log(clusters of its zoom)).
    func cluster(id: Int64) -> ClusterOrdinal? {
        let (code, overflow) = id.subtractingReportingOverflow(Int64(pointCount))
        guard !overflow, code >= 0 else { return nil }
        let zoom = Int(code & 31) - 1
        let origin = code >> 5
        guard zoom >= 0, zoom < columns.ranges.count else { return nil }
        let range = Int(columns.ranges[zoom].lowerBound)..<Int(columns.ranges[zoom].upperBound)
        let position = range.partitionIndex { Int64(columns.originIndexes[Int(columns.ordinalsByOrigin[$0])]) < origin }
        guard position < range.upperBound else { return nil }
        let ordinal = columns.ordinalsByOrigin[position]
        guard Int64(columns.originIndexes[Int(ordinal)]) == origin else { return nil }
        return ClusterOrdinal(rawValue: ordinal)
    }

    /// Appends the base's nodes inside a box at a level, regardless of the delta.
    ///
    /// - Returns: whether there are more than `limit`.
    func collect(_ box: UnitBox, level: Int, limit: Int, into found: inout [Node]) -> Bool {
        if let memory, !memory.isResident {
            switch spatial {
            case .float(let index): index.willCollect(box, zoom: level, limit: limit, from: memory)
            case .double(let index): index.willCollect(box, zoom: level, limit: limit, from: memory)
            }
        }
        // Not retained, because the base keeps it: counting references would take a fiftieth of a small query.
        return switch spatial {
        case .float(let index):
            Unmanaged.passUnretained(index)._withUnsafeGuaranteedRef {
                $0.collect(box, zoom: level, limit: limit, into: &found)
            }
        case .double(let index):
            Unmanaged.passUnretained(index)._withUnsafeGuaranteedRef {
                $0.collect(box, zoom: level, limit: limit, into: &found)
            }
        }
    }

    /// Fetches the memory of a node's parent.
    @inline(__always) func fetchParent(of key: NodeKey) {
        columns.parents.fetch(key.isCluster ? pointCount + key.number : key.number)
    }

    /// The levels at which the base shows a node, regardless of the delta: a bit each.
    func levels(of key: NodeKey) -> UInt32 {
        let parent: UInt32
        let last: Int
        if key.isCluster {
            guard key.number < clusterCount else { return 0 }
            parent = columns.parents[pointCount + key.number]
            last = Int(columns.zooms[key.number])
        } else {
            guard key.number < pointCount else { return 0 }
            parent = columns.parents[key.number]
            last = options.maximumZoom + 1
        }
        let first = parent == NodeNumber.none ? options.minimumZoom : Int(columns.zooms[Int(parent)]) + 1
        return UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(max(first, last) + 1)) &- (UInt64(1) << UInt64(first)))
    }
}

/// The clusters' columns, by ordinal, and the tree that they form.
///
/// Invariant: all columns indexed by ordinal have the same count; `childStarts` has one more element and ascends,
/// and its last value is the count of `children`; the range from `leafStarts[c]` with length `counts[c]` is
/// within `leaves`.
struct ClusterColumns: Sendable {
    let x: Column<Double>
    let y: Column<Double>
    let counts: Column<UInt32>
    let zooms: Column<UInt8>
    let originIndexes: Column<UInt32>
    /// By zoom, in the ranges of `ranges`: ordinals sorted by origin index, in which ids are looked up.
    let ordinalsByOrigin: Column<UInt32>
    let childStarts: Column<UInt32>
    let children: Column<UInt32>
    let leafStarts: Column<UInt32>
    let leaves: Column<UInt32>
    /// The parent of each node, indexed by node number: points first.
    let parents: Column<UInt32>
    let weights: Column<Double>?
    let partitions: Column<UInt32>?
    /// The range of ordinals of each zoom.
    let ranges: [Range<UInt32>]

    /// Fetches the memory of a cluster's place and zoom.
    @inline(__always) func fetch(_ ordinal: Int) {
        x.fetch(ordinal)
        y.fetch(ordinal)
        zooms.fetch(ordinal)
    }

    /// Lets the pages be read side by side that the summaries of some clusters are made of.
    func willRead(_ ordinals: [Int], from memory: any IndexMemory) {
        memory.willRead(
            ordinals.flatMap {
                [x.address($0), y.address($0), counts.address($0), zooms.address($0), originIndexes.address($0)]
            })
    }

    var memoryBytes: Int {
        x.memoryBytes + y.memoryBytes + counts.memoryBytes + zooms.memoryBytes + originIndexes.memoryBytes
            + ordinalsByOrigin.memoryBytes + childStarts.memoryBytes + children.memoryBytes
            + leafStarts.memoryBytes + leaves.memoryBytes
            + parents.memoryBytes + (weights?.memoryBytes ?? 0) + (partitions?.memoryBytes ?? 0)
    }
}

/// A node's number in the base's arrays: points first, then clusters.
///
/// Invariant: a number below `pointCount` is a point's index, any other a cluster's ordinal plus `pointCount`;
/// `.none` means no node. An index has fewer than 2^32 - 1 nodes, which `build` checks.
struct NodeNumber {
    static let none = UInt32.max
}
