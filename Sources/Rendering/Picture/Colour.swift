// SPDX-License-Identifier: MIT

/// A colour with eight bits per channel, without alpha.
struct Colour: Equatable, Sendable {
    let red, green, blue: UInt8

    /// - Parameter rgb: as in CSS, 0xRRGGBB.
    init(_ rgb: UInt32) {
        red = UInt8(truncatingIfNeeded: rgb >> 16)
        green = UInt8(truncatingIfNeeded: rgb >> 8)
        blue = UInt8(truncatingIfNeeded: rgb)
    }

    init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// A colour between this one and another, from 0 (this one) to 1 (the other).
    func mixed(with other: Colour, part: Double) -> Colour {
        func between(_ one: UInt8, _ other: UInt8) -> UInt8 {
            UInt8(clamping: Int((Double(one) + (Double(other) - Double(one)) * part).rounded()))
        }
        return Colour(
            red: between(red, other.red), green: between(green, other.green), blue: between(blue, other.blue))
    }
}
