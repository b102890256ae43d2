// SPDX-License-Identifier: MIT

/// A rectangle in a picture, in pixels.
struct PixelBox: Equatable, Sendable {
    var left, top, width, height: Double

    var right: Double { left + width }
    var bottom: Double { top + height }
    var centre: PixelPoint { PixelPoint(x: left + width / 2, y: top + height / 2) }

    static func around(_ centre: PixelPoint, width: Double, height: Double) -> PixelBox {
        PixelBox(left: centre.x - width / 2, top: centre.y - height / 2, width: width, height: height)
    }

    func intersects(_ other: PixelBox) -> Bool {
        left < other.right && other.left < right && top < other.bottom && other.top < bottom
    }

    /// Whether part of a disc lies in the rectangle.
    func intersects(_ disc: Disc) -> Bool {
        let x = disc.centre.x - min(max(disc.centre.x, left), right)
        let y = disc.centre.y - min(max(disc.centre.y, top), bottom)
        return x * x + y * y < disc.radius * disc.radius
    }
}
