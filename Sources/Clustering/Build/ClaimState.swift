// SPDX-License-Identifier: MIT

/// A node's state during the greedy pass of one zoom.
///
/// The pass visits nodes in order; a node that no other has claimed yet claims all unclaimed nodes within the
/// radius. So a node's state depends only on its earlier neighbours: the first unclaimed one claims it, and if
/// there is none it is a claimant itself. States can therefore be determined in any order, each from its own
/// neighbourhood, with the same outcome as the sequential pass.
enum ClaimState {
    /// Unclaimed; may have claimed others.
    static let unclaimed: UInt8 = 0
    /// Undetermined: it has earlier neighbours.
    static let pending: UInt8 = 2
    /// Claimed, so it belongs to another node's cluster.
    static let claimed: UInt8 = 1
    /// Grew into a cluster, which replaces it.
    static let merged: UInt8 = 3

    /// Set in the states of nodes that the next level does not contain.
    static let goneBit: UInt8 = 1
}
