// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc

/// The part of the world that a picture shows, and where in the picture its places lie.
public struct PictureFrame: Equatable, Sendable {
    /// In pixels.
    let width, height: Int
    /// The middle, in the unit square of the world; x may lie beside it.
    let centreX, centreY: Double
    /// How many pixels the whole world would be wide.
    let worldSide: Double

    init(width: Int, height: Int, centreX: Double, centreY: Double, worldSide: Double) {
        self.width = width
        self.height = height
        self.centreX = centreX
        self.centreY = centreY
        self.worldSide = worldSide
    }

    /// A frame in which a box fits whole, in the middle.
    init(showing box: BoundingBox, width: Int, height: Int) {
        let west = Mercator.x(box.west)
        var east = Mercator.x(box.east)
        if east < west { east += 1 }
        let (north, south) = (Mercator.y(box.north), Mercator.y(box.south))
        self.width = width
        self.height = height
        centreX = (west + east) / 2
        centreY = (north + south) / 2
        // A box without width or height is a place: it is shown as at the deepest zoom.
        let smallest = 1 / (Mercator.tileSide * 0x1p22)
        worldSide = min(
            Double(width) / max(east - west, smallest), Double(height) / max(south - north, smallest))
    }

    /// The map zoom at which the world has this size.
    public var zoom: Double { max(0, log2(worldSide / Mercator.tileSide)) }

    /// What of the world can be seen, the whole breadth where the frame is wider than the world.
    public var box: BoundingBox {
        let (halfWidth, halfHeight) = (Double(width) / worldSide / 2, Double(height) / worldSide / 2)
        let latitudes = (
            Mercator.latitude(min(centreY + halfHeight, 1)), Mercator.latitude(max(centreY - halfHeight, 0))
        )
        guard halfWidth < 0.5 else {
            return BoundingBox(west: -180, south: latitudes.0, east: 180, north: latitudes.1)
        }
        return BoundingBox(
            west: Self.wrapped(Mercator.longitude(centreX - halfWidth)), south: latitudes.0,
            east: Self.wrapped(Mercator.longitude(centreX + halfWidth)), north: latitudes.1)
    }

    private static func wrapped(_ longitude: Double) -> Double {
        let turned = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return (turned < 0 ? turned + 360 : turned) - 180
    }

    /// The whole frame.
    var area: PixelBox { PixelBox(left: 0, top: 0, width: Double(width), height: Double(height)) }

    /// The part of the frame that the world fills, once around: less than the frame if the world is narrower.
    var worldArea: PixelBox {
        let shown = min(Double(width), worldSide)
        return PixelBox(left: (Double(width) - shown) / 2, top: 0, width: shown, height: Double(height))
    }

    /// The pixel of a place: of its repetitions around the world the one nearest to the middle.
    func pixel(longitude: Double, latitude: Double) -> PixelPoint {
        let x = Mercator.x(longitude)
        return pixel(x: x + (centreX - x).rounded(), y: Mercator.y(latitude))
    }

    /// The pixel of a place in the world's unit square.
    func pixel(x: Double, y: Double) -> PixelPoint {
        PixelPoint(
            x: (x - centreX) * worldSide + Double(width) / 2,
            y: (y - centreY) * worldSide + Double(height) / 2)
    }

    /// The pixels of a line or ring, which stays whole where it crosses the antimeridian.
    func pixels(_ places: [(longitude: Double, latitude: Double)]) -> [PixelPoint] {
        guard let first = places.first else { return [] }
        let start = pixel(longitude: first.longitude, latitude: first.latitude)
        var longitude = first.longitude
        var x = start.x
        return places.map { place in
            var step = place.longitude - longitude
            if step > 180 { step -= 360 }
            if step < -180 { step += 360 }
            longitude = place.longitude
            x += step / 360 * worldSide
            return PixelPoint(x: x, y: pixel(x: 0, y: Mercator.y(place.latitude)).y)
        }
    }
}
