// SPDX-License-Identifier: MIT

/// A part of a heat map: how dense its middle is, from 0 to 1, and how far it reaches in pixels.
struct HeatSpot: Equatable, Sendable {
    let centre: PixelPoint
    let radius: Double
    let weight: Double
}
