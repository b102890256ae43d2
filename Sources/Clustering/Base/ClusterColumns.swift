// SPDX-License-Identifier: MIT

/// The clusters' columns, by ordinal, and the tree that they form.
///
/// Invariant: all columns by ordinal have the same count; `childStarts` has one more and ascends, and its last
/// value is the count of `children`; `leafStarts[c] + counts[c]` is within `leaves`.
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
