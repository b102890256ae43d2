// SPDX-License-Identifier: MIT

/// A colour of eight bits a channel, without alpha.
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

    /// As CSS writes it: `#51bbd6`.
    var hexadecimal: String {
        "#"
            + [red, green, blue].map { channel in
                let digits = String(channel, radix: 16)
                return digits.count < 2 ? "0" + digits : digits
            }.joined()
    }
}

/// How clusters look, in pictures and in the terminal: steps and colours of MapLibre's cluster example.
enum MarkerStyle {
    static let point = Colour(0x11B4DA)
    static let paper = Colour(0xF5F7F9)
    static let grid = Colour(0xDDE3E9)
    static let hull = Colour(0x7A5195)
    static let ink = Colour(0x1B2733)
    static let white = Colour(0xFFFFFF)

    static func colour(count: Int) -> Colour {
        switch count {
        case ..<100: Colour(0x51BBD6)
        case ..<750: Colour(0xF1E05A)
        default: Colour(0xF28CB1)
        }
    }

    /// In pixels: in proportion to 1 + log(count).
    static func radius(count: Int) -> Double { 4 * (1 + logarithm(Double(max(count, 1)))) }
    static let pointRadius = 3.5

    /// The colours of the heat map, from thin to dense, evenly spread; the first is where it begins to show.
    static let heat = [0x4169E1, 0x3FC6E8, 0x6FD66B, 0xF6E04B, 0xF08A3C, 0xD7301F].map { Colour($0) }
}
