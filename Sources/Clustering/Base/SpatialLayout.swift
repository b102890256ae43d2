// SPDX-License-Identifier: MIT

/// Sizes of a spatial index's arrays: one bit per node and level, in words of 64 nodes and groups of 64 words.
struct SpatialLayout: Sendable {
    let pointCount: Int
    let nodeCount: Int
    let minimumZoom: Int
    let levels: Int
    var wordCount: Int { (nodeCount + 63) / 64 }
    var groupCount: Int { (wordCount + 63) / 64 }
}

/// A node's position and number, adjacent in memory because they are read together.
struct SpatialSlot<Scalar: Coordinate>: BitwiseCopyable, Sendable {
    var x: Scalar
    var y: Scalar
    var node: UInt32
}

/// Positions along a Z-order curve (Morton, 1966) over the unit square.
enum ZOrderCurve {
    /// The binary logarithm of the number of cells along one axis: a cell is about ten metres wide at the equator.
    static var axisBits: UInt64 { 22 }

    /// The cell that contains a position of the square, as 44 bits.
    @inline(__always) static func code<Scalar: Coordinate>(_ x: Scalar, _ y: Scalar) -> UInt64 {
        let scale = Double(UInt64(1) << axisBits)
        return spread(UInt64(Double(x) * scale)) | spread(UInt64(Double(y) * scale)) << 1
    }

    /// Inserts a zero before each of the lowest bits.
    @inline(__always) private static func spread(_ value: UInt64) -> UInt64 {
        var bits = min(value, (1 << axisBits) - 1)
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }
}
