// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures
import VectorTile

extension View {
    /// Whether all its points can be counted on the loop's thread.
    public func isQuickToCount(within features: Int) -> Bool { index.pointCount <= features }
}

extension Revision {
    /// The squares of a grid that have points, by row and then by column, each with the number of points that have
    /// their positions in it, as the source has them. Fails with `tooLarge` if there are more than `mostSquares`.
    private func occupied(
        _ squares: GridSquares, of view: View, window: ViewRestriction.Window?, _ cancellation: Cancellation
    ) throws(SourceError) -> [OccupiedSquare] {
        let window = try window.map { (window) throws(SourceError) in
            try self.window(window, in: view, cancellation)
        }
        let found = view.index.pointCounts(
            in: squares, window: window, limit: Self.mostSquares,
            coordinates: { store.coordinates(view.feature(of: $0)) },
            isCancelled: { cancellation.isCancelled })
        try cancellation.stopIfCancelled()
        guard let found else {
            throw .tooLarge(
                "the answer would have more than 100,000 cells: choose a lower resolution than \(squares.zoom) or a smaller box"
            )
        }
        return view.leastCount > 1 ? found.filter { $0.pointCount >= view.leastCount } : found
    }

    private static let mostSquares = 100_000

    /// Writes the tiles of a zoom that touch a box and have points, each with the number of all its points.
    public func writeGrid(
        _ box: Box, resolution: Int, of view: View, window: ViewRestriction.Window? = nil,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let squares = view.index.squares(touching: try view.checked(box), zoom: resolution)
        bytes.append("{\"resolution\":")
        bytes.append(integer: Int64(resolution))
        bytes.append(",\"cells\":[")
        var isFirst = true
        for square in try occupied(squares, of: view, window: window, cancellation) {
            bytes.append(isFirst ? "{\"x\":" : ",{\"x\":")
            isFirst = false
            bytes.append(integer: Int64(square.x))
            bytes.append(",\"y\":")
            bytes.append(integer: Int64(square.y))
            Self.write(countOf: square, after: ",", into: &bytes)
        }
        bytes.append("]")
        endAnswer(&bytes)
    }

    private static func write(countOf square: OccupiedSquare, after start: StaticString, into bytes: inout ByteWriter) {
        bytes.append(start)
        bytes.append("\"point_count\":")
        bytes.append(integer: Int64(square.pointCount))
        bytes.append("}")
    }

    // MARK: Tiles

    /// A square of a tile, in the tile's coordinates.
    private struct TileSquare {
        let square: OccupiedSquare
        let left: Int64
        let top: Int64
        let right: Int64
        let bottom: Int64
    }

    /// The squares of a tile that have points.
    private func tileSquares(
        _ tile: TileAddress, depth: Int, of view: View, _ output: FeatureOutput, _ cancellation: Cancellation
    ) throws(SourceError) -> [TileSquare] {
        let extent = view.index.options.extent
        let across = Double(1 << depth)
        guard extent >= across else {
            throw .invalidParameter(
                path: "grid",
                message: "must be less: the source's extent has no \(1 << depth) squares along a tile's side")
        }
        let block = TileBlock(zoom: tile.z, cell: TileCell(x: tile.x, y: tile.y))
        let squares = try occupied(
            GridSquares(of: block, depth: depth), of: view, window: output.restriction?.window, cancellation)
        func edge(_ position: Int) -> Int64 { Self.tileCoordinate(extent * Double(position) / across) }
        return squares.map { square in
            let (x, y) = (square.x - tile.x << depth, square.y - tile.y << depth)
            return TileSquare(square: square, left: edge(x), top: edge(y), right: edge(x + 1), bottom: edge(y + 1))
        }
    }

    /// Writes a tile's squares as polygons, as JSON or as messages.
    ///
    /// - Parameters:
    ///   - depth: how many zooms below the tile's the squares are.
    ///   - output: its form and window.
    public func writeTileGrid(
        _ tile: TileAddress, depth: Int, of view: View, output: FeatureOutput, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        let squares = try tileSquares(tile, depth: depth, of: view, output, cancellation)
        guard output.form == .json else {
            for square in squares { Self.writeMessage(square, into: &bytes) }
            return endAnswer(&bytes, form: output.form)
        }
        bytes.append("{\"features\":[")
        var isFirst = true
        for square in squares {
            bytes.append(isFirst ? "{\"type\":3,\"geometry\":[[" : ",{\"type\":3,\"geometry\":[[")
            isFirst = false
            Self.writeCorner(square.left, square.top, into: &bytes)
            for (x, y) in [
                (square.right, square.top), (square.right, square.bottom), (square.left, square.bottom),
                (square.left, square.top),
            ] {
                bytes.append(",")
                Self.writeCorner(x, y, into: &bytes)
            }
            Self.write(countOf: square.square, after: "]],\"tags\":{", into: &bytes)
            bytes.append("}")
        }
        bytes.append("]")
        endAnswer(&bytes)
    }

    private static func writeCorner(_ x: Int64, _ y: Int64, into bytes: inout ByteWriter) {
        bytes.append("[")
        bytes.append(integer: x)
        bytes.append(",")
        bytes.append(integer: y)
        bytes.append("]")
    }

    private static func writeMessage(_ square: TileSquare, into bytes: inout ByteWriter) {
        typealias Fields = TypedFields.TileFeature
        let start = bytes.beginField(TypedFields.Answer.features)
        bytes.append(field: Fields.x, nonZero: WireFormat.zigZag(square.left))
        bytes.append(field: Fields.y, nonZero: WireFormat.zigZag(square.top))
        let message = bytes.beginField(Fields.square)
        bytes.append(field: TypedFields.Square.size, nonZero: UInt64(clamping: square.right - square.left))
        bytes.append(field: TypedFields.Square.pointCount, nonZero: UInt64(square.square.pointCount))
        bytes.endField(message)
        bytes.endField(start)
    }

    /// Appends a tile's squares as a Mapbox Vector Tile: one layer, and no bytes if no square has points.
    public func appendVectorTileGrid(
        _ tile: TileAddress, depth: Int, of view: View, layer: String, output: FeatureOutput,
        into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        let squares = try tileSquares(tile, depth: depth, of: view, output, cancellation)
        try EncoderPool.shared.lend { (encoder) throws(SourceError) in
            encoder.begin(layer: layer, extent: UInt32(clamping: options.extent))
            var tags = ByteWriter(capacity: 32)
            for square in squares {
                encoder.rectangle(left: square.left, top: square.top, right: square.right, bottom: square.bottom)
                tags.truncate(to: 0)
                Self.write(countOf: square.square, after: "{", into: &tags)
                encoder.tags(json: tags)
            }
            let start = bytes.count
            encoder.finish(into: &bytes)
            return bytes.count - start
        }
    }
}
