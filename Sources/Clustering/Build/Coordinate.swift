// SPDX-License-Identifier: MIT

/// The number type in which positions are compared: `Float` as supercluster does, or `Double`.
protocol Coordinate: BinaryFloatingPoint, BitwiseCopyable, Sendable {
    /// A bound on how far a 64-bit position in the unit square is from its rounding to this type.
    static var roundingSlack: Double { get }
    /// Bits that order non-negative values as their values do.
    var orderedBits: UInt64 { get }
    static var orderedBitCount: Int { get }
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
