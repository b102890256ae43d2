// SPDX-License-Identifier: MIT

/// A node's position and number, adjacent in memory because they are read together.
struct SpatialSlot<Scalar: Coordinate>: BitwiseCopyable, Sendable {
    var x: Scalar
    var y: Scalar
    var node: UInt32
}
