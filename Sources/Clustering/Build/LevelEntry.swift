// SPDX-License-Identifier: MIT

/// A node that is alive at the level being built.
struct LevelEntry<Scalar: Coordinate>: BitwiseCopyable {
    var x: Scalar
    var y: Scalar
    /// The node's rank in the order in which the greedy pass visits nodes.
    var order: UInt32
    var node: UInt32
}
