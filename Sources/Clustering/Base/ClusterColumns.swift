// SPDX-License-Identifier: MIT

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

    /// Where the values are that a cluster's summary is made of.
    func summaryAddresses(of ordinal: Int) -> [UnsafeRawPointer] {
        [
            x.address(ordinal), y.address(ordinal), counts.address(ordinal), zooms.address(ordinal),
            originIndexes.address(ordinal),
        ]
    }

    var memoryBytes: Int {
        x.memoryBytes + y.memoryBytes + counts.memoryBytes + zooms.memoryBytes + originIndexes.memoryBytes
            + ordinalsByOrigin.memoryBytes + childStarts.memoryBytes + children.memoryBytes
            + leafStarts.memoryBytes + leaves.memoryBytes
            + parents.memoryBytes + (weights?.memoryBytes ?? 0) + (partitions?.memoryBytes ?? 0)
    }
}
