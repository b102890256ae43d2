// SPDX-License-Identifier: MIT
import Glibc

/// The number type in which positions are compared: `Float` as in supercluster, or `Double`.
protocol Coordinate: BinaryFloatingPoint, BitwiseCopyable, Sendable {
    /// An upper bound on the distance between a 64-bit position in the unit square and its rounding to this type.
    static var roundingSlack: Double { get }
    /// Bits whose order as an integer is the order of the values, for non-negative values.
    var orderedBits: UInt64 { get }
    static var orderedBitCount: Int { get }
}

/// Positions as supercluster 9 stores them: signed 32-bit integers in units of 2^-30 of the unit square, counted
/// from its middle and rounded towards it.
///
/// Doubles hold these integers exactly. Distances between them scale by a power of two, so comparisons in doubles
/// give the same results as supercluster's comparisons of integers.
enum FixedPoint {
    /// The unit: 2^-30 of the unit square.
    static let unit = 0x1p-30

    /// The grid position of a distance from the middle of the unit square.
    @inline(__always) static func position(fromMiddle distance: Double) -> Double {
        (distance * 0x1p30).rounded(.towardZero) * unit + 0.5
    }
}

/// A node that is alive at the level being built.
struct LevelEntry<Scalar: Coordinate>: BitwiseCopyable {
    var x: Scalar
    var y: Scalar
    /// The node's rank in the order in which the greedy pass visits nodes.
    var order: UInt32
    var node: UInt32
}

extension Float: Coordinate {
    static var roundingSlack: Double { 0x1p-24 }
    var orderedBits: UInt64 { UInt64(bitPattern) }
    // Positions are at most 1, whose bit pattern needs 30 bits.
    static var orderedBitCount: Int { 30 }
}

extension Double: Coordinate {
    static var roundingSlack: Double { 0x1p-52 }
    var orderedBits: UInt64 { bitPattern }
    static var orderedBitCount: Int { 62 }
}

/// The radius at one zoom, and values for comparing with it exactly and fast.
struct LevelRadius<Scalar: Coordinate> {
    let squared: Double
    /// The maximum distance of a neighbour along one axis, rounding included.
    let reach: Scalar
    /// A squared distance above this, in `Scalar`'s arithmetic, is certainly beyond the radius.
    let reachSquared: Scalar
    /// A squared distance below this is certainly within the radius.
    let innerSquared: Scalar
    /// The minimum height of a row for which a node's neighbours lie in its own and the adjacent rows.
    let rowHeight: Double
    let unit: Double

    init(_ radius: Double) {
        unit = radius
        squared = radius * radius
        let outer = radius + Scalar.roundingSlack
        reach = Scalar(outer).nextUp
        reachSquared = (reach * reach * (1 + 1e-5)).nextUp
        let inner = radius - Scalar.roundingSlack
        innerSquared = inner > 0 ? (Scalar(inner) * Scalar(inner) * (1 - 1e-5)).nextDown : -1
        rowHeight = max(outer * (1 + 1e-9), 0x1p-30)
    }
}
