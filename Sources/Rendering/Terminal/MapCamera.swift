// SPDX-License-Identifier: MIT
import ClusterClient

/// The position and zoom of a terminal's map, and their changes. The picture's dots are half a character high
/// and one wide, which makes them about square.
struct MapCamera: Equatable, Sendable {
    private(set) var centreX = 0.5
    private(set) var centreY = 0.5
    private(set) var zoom = 0
    /// The size of the map in characters, without the lines around it.
    var columns: Int
    var rows: Int
    let projection: MapProjection

    static let deepestZoom = 22
    /// A dot represents this many pixels of a map on a screen.
    static let pixelsOfDot = 8.0

    init(columns: Int, rows: Int, projection: MapProjection = .mercator) {
        self.projection = projection
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
    }

    var frame: PictureFrame {
        let side = Mercator.tileSide * Double(1 << zoom) / Self.pixelsOfDot
        return PictureFrame(
            width: columns, height: rows * 2, centreX: centreX, centreY: centreY, worldSide: side,
            projection: projection)
    }

    /// Moves by fractions of the screen.
    mutating func pan(right: Double, down: Double) {
        let frame = frame
        move(
            x: centreX + right * Double(frame.width) / frame.worldSide,
            y: centreY + down * Double(frame.height) / frame.worldSide)
    }

    mutating func zoom(by steps: Int) { zoom = min(max(zoom + steps, 0), Self.deepestZoom) }

    /// Centres the map on a position at a zoom.
    mutating func look(longitude: Double, latitude: Double, zoom: Int) {
        move(x: projection.x(longitude), y: projection.y(latitude))
        self.zoom = min(max(zoom, 0), Self.deepestZoom)
    }

    /// Shows a box at the closest zoom at which it fits.
    mutating func look(at box: BoundingBox) {
        let fitting = PictureFrame(showing: box, width: columns * 8, height: rows * 16, projection: projection)
        move(x: fitting.centreX, y: fitting.centreY)
        zoom = min(max(Int(exactly: fitting.zoom.rounded(.down)) ?? 0, 0), Self.deepestZoom)
    }

    /// Moves around the world, but not beyond its poles, nor beyond the edge of a plane.
    private mutating func move(x: Double, y: Double) {
        centreX = projection.wraps ? x - x.rounded(.down) : min(max(x, 0), projection.extent.x)
        centreY = min(max(y, 0), projection.extent.y)
    }
}
