// SPDX-License-Identifier: MIT

/// What a picture is drawn on, in pixels; opacities go from 0 to 1.
protocol Canvas {
    mutating func line(_ points: [PixelPoint], width: Double, colour: Colour, opacity: Double)
    mutating func polygon(_ corners: [PixelPoint], colour: Colour, opacity: Double)
    mutating func circle(_ centre: PixelPoint, radius: Double, colour: Colour, opacity: Double)
    /// Text of digits, points and a few letters, with its middle at a place.
    mutating func label(_ text: String, at centre: PixelPoint, height: Double, colour: Colour)
    /// Spots that add up to a heat map, all in one go.
    mutating func heat(_ spots: [HeatSpot])
    /// The picture as a file's bytes.
    consuming func finish() throws -> [UInt8]
}

/// A part of a heat map: how dense it is in the middle, from 0 to 1, and how far it reaches.
struct HeatSpot: Equatable, Sendable {
    let centre: PixelPoint
    let radius: Double
    let weight: Double
}
