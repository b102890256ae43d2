// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON

/// A map of a source as a picture: its size, the part of the world that it shows, and what is drawn.
public struct MapPicture {
    /// The map, which is smaller than the picture if something surrounds it.
    public let frame: PictureFrame
    let layout: PictureLayout
    /// Shown above the map, and the document's title.
    public var title = ""
    /// Shown beside the title if there is room.
    public var caption = ""
    public var showsHulls = false
    public var showsHeat = false

    /// - Parameters:
    ///   - box: the area to show: completely, and in the middle of the map.
    ///   - width: the picture's width in pixels, at least 1; the same applies to `height`.
    ///   - isPlain: whether the map fills the picture, without title, labels and legend.
    public init(
        showing box: BoundingBox, width: Int, height: Int, isPlain: Bool,
        projection: MapProjection = .mercator
    ) {
        layout = PictureLayout(width: width, height: height, isPlain: isPlain)
        frame = PictureFrame(
            showing: box, width: Int(layout.map.width), height: Int(layout.map.height), projection: projection)
    }

    /// Draws the picture. O(features + pixels).
    public func draw(_ features: [Feature], as format: PictureFormat) throws(PictureError) -> [UInt8] {
        let canvas = try PictureCanvas(width: layout.width, height: layout.height, format: format, title: title)
        MapPainter(picture: self, features: features).paint(on: canvas)
        return try canvas.finish()
    }
}

/// A cluster or a point on a picture's map.
struct MapFeature {
    let position: PixelPoint
    /// The number of points; 1 for a point.
    let count: Int
    /// The label; nil for a point.
    let label: String?
    let hull: HullShape?

    init(_ feature: Feature, _ frame: PictureFrame) {
        position = frame.pixel(longitude: feature.longitude, latitude: feature.latitude)
        count = max(feature.cluster?.pointCount ?? 1, 1)
        label = feature.cluster?.abbreviatedCount
        hull = feature.properties["hull"].flatMap(HullShape.init)
    }
}

/// A cluster's hull as the daemon returns it.
struct HullShape {
    let positions: [(longitude: Double, latitude: Double)]
    let isRing: Bool

    /// Nil if it is neither a polygon nor a line.
    init?(_ geometry: JSONValue) {
        switch geometry["type"]?.asString {
        case "Polygon":
            positions = geometry["coordinates"]?.asArray?.first?.asPositions ?? []
            isRing = true
        case "LineString":
            positions = geometry["coordinates"]?.asPositions ?? []
            isRing = false
        default: return nil
        }
    }
}

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

/// The file formats of a picture.
public enum PictureFormat: String, CaseIterable, Sendable { case svg, png, pdf }

/// Cairo could not draw a picture, for example for lack of memory.
public struct PictureError: Error, CustomStringConvertible {
    let reason: String

    public var description: String { "cannot draw the picture: \(reason)" }
}
