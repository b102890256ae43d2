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
