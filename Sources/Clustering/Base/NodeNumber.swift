// SPDX-License-Identifier: MIT

/// A node as the base's arrays hold it: points first, then clusters.
///
/// Invariant: below `pointCount` it is a point's index, else a cluster's ordinal plus `pointCount`;
/// `.none` stands for no node. An index has fewer than 2^32 - 1 nodes, which `build` checks.
struct NodeNumber {
    static let none = UInt32.max
}
