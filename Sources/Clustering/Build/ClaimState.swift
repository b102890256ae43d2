// SPDX-License-Identifier: MIT

/// What is known of a node during the greedy pass of one zoom.
///
/// The pass visits nodes in order; one that no other has claimed yet claims all unclaimed nodes within the
/// radius. So a node's state depends only on its earlier neighbours: the first of them that is unclaimed claims it, and
/// if there is none it is a claimant. States can thus be found in any
/// order, each from its own neighbourhood, with the same outcome as the pass itself.
enum ClaimState {
    /// Unclaimed; may have claimed others.
    static let unclaimed: UInt8 = 0
    /// Not known yet: it has neighbours before it.
    static let pending: UInt8 = 2
    /// Claimed, and so part of another's cluster.
    static let claimed: UInt8 = 1
    /// Grew into a cluster, which replaces it.
    static let merged: UInt8 = 3

    /// Set in the states of nodes that are not in the next level.
    static let goneBit: UInt8 = 1
}
