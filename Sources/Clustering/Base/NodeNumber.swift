// SPDX-License-Identifier: MIT

/// A node's number in the base's arrays: points first, then clusters.
///
/// Invariant: a number below `pointCount` is a point's index, any other a cluster's ordinal plus `pointCount`;
/// `.none` means no node. An index has fewer than 2^32 - 1 nodes, which `build` checks.
struct NodeNumber {
    static let none = UInt32.max
}
