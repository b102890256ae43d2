// SPDX-License-Identifier: MIT

/// A spot of a heat map: the density of its middle, from 0 to 1, and its radius in pixels.
struct HeatSpot: Equatable, Sendable {
    let centre: PixelPoint
    let radius: Double
    let weight: Double
}
