// SPDX-License-Identifier: MIT

/// An index after changes.
public struct IndexUpdate: Sendable {
    public let index: ClusterIndex
    /// The clusters that the changes made, by ordinal: a cluster's children have lower ordinals than the cluster.
    public let made: Range<UInt32>
}
