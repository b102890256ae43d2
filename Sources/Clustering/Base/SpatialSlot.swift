// SPDX-License-Identifier: MIT

/// A node's place and number, together since they are read together.
struct SpatialSlot<Scalar: Coordinate>: BitwiseCopyable, Sendable {
    var x: Scalar
    var y: Scalar
    var node: UInt32
}
