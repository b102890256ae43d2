// SPDX-License-Identifier: MIT

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
