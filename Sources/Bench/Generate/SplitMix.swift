// SPDX-License-Identifier: MIT
import Glibc

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and the same everywhere for the same seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    private var spareGaussian: Double?

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in [0, 1).
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// A number in [0, bound). `bound` is at least 1.
    mutating func integer(below bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A standard normal number (Box and Muller, which produces pairs).
    mutating func gaussian() -> Double {
        if let spare = spareGaussian {
            spareGaussian = nil
            return spare
        }
        let radius = sqrt(-2 * log(1 - unit()))
        let angle = 2 * Double.pi * unit()
        spareGaussian = radius * sin(angle)
        return radius * cos(angle)
    }
}
