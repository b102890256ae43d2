// SPDX-License-Identifier: MIT
import ClusterClient

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
            showing: box, width: Int(layout.map.width), height: Int(layout.map.height), projection: projection
        )
    }

    /// Draws the picture. O(features + pixels).
    public func draw(_ features: [Feature], as format: PictureFormat) throws(PictureError) -> [UInt8] {
        let canvas = try PictureCanvas(
            width: layout.width, height: layout.height, format: format, title: title)
        MapPainter(picture: self, features: features).paint(on: canvas)
        return try canvas.finish()
    }
}
