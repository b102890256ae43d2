// SPDX-License-Identifier: MIT

/// The number type in which positions are compared: `Float` as in supercluster, or `Double`.
protocol Coordinate: BinaryFloatingPoint, BitwiseCopyable, Sendable {
    /// An upper bound on the distance between a 64-bit position in the unit square and its rounding to this type.
    static var roundingSlack: Double { get }
    /// Bits whose order as an integer is the order of the values, for non-negative values.
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
