// SPDX-License-Identifier: MIT
import Glibc

/// The appearance of maps, in pictures and in the terminal. The steps and colours of clusters are those of
/// MapLibre's cluster example.
enum MarkerStyle {
    static let point = Colour(0x11B4DA)
    static let sea = Colour(0xE4EEF5)
    static let land = Colour(0xFAF8F3)
    static let coast = Colour(0x9FB2C1)
    static let border = Colour(0xC9C2B5)
    static let graticule = Colour(0xC3D2DE)
    static let paper = Colour(0xFFFFFF)
    static let hull = Colour(0x7A5195)
    static let ink = Colour(0x1B2733)
    static let fadedInk = Colour(0x5B6B7A)
    static let white = Colour(0xFFFFFF)

    /// The counts from which each colour applies, smallest first.
    static let steps: [(count: Int, colour: Colour)] = [
        (2, Colour(0x51BBD6)), (100, Colour(0xF1E05A)), (750, Colour(0xF28CB1)),
    ]

    static func colour(count: Int) -> Colour {
        (steps.last { $0.count <= count } ?? steps[0]).colour
    }

    /// The radius in pixels, proportional to 1 + log(count).
    static func radius(count: Int) -> Double { 4 * (1 + log(Double(max(count, 1)))) }
    static let pointRadius = 3.5

    /// The colours of the heat map, from low to high density, evenly spaced; the first is where it becomes visible.
    static let heat = [0x4169E1, 0x3FC6E8, 0x6FD66B, 0xF6E04B, 0xF08A3C, 0xD7301F].map { Colour($0) }
}
