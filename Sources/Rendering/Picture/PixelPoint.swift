// SPDX-License-Identifier: MIT

/// A position in a picture, in pixels from its upper left corner.
struct PixelPoint: Equatable, Sendable {
    var x, y: Double
}
