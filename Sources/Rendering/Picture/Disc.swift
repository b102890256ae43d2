// SPDX-License-Identifier: MIT

/// A filled circle in a picture, in pixels.
struct Disc: Equatable, Sendable {
    var centre: PixelPoint
    var radius: Double
}
