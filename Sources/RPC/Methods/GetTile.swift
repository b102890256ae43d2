// SPDX-License-Identifier: MIT
import Clustering
import Responses
import ClusterProtocol
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures

/// `GetTile`: returns a tile's features, as JSON or as a Mapbox Vector Tile.
struct GetTile: UnaryMethod {
    let declaration = MethodDeclaration.getTile
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        let tile = try Self.tile(params)
        let encoding: TileEncoding = try params.word(.encoding)
        let grid = try Self.grid(params, tile)
        let ready = target.readyView(zoom: Double(tile.z))
        var output = try catalog.output(params)
        output.form = call.form.features
        let content = TileContent(
            tile: tile, grid: grid, layer: target.name, output: output,
            isRaw: encoding != .json && call.form == .raw)
        guard grid == nil || output.restriction?.pins.isEmpty ?? true else {
            throw params.invalid(.pin, "can't be given together with params.grid: squares have no points of their own.")
        }
        try target.checkWindow(output.restriction?.window)
        var isQuick = ready.map { content.isQuick(in: $0) } ?? false
        if let ready, try !target.isReady(output.restriction, ready) { isQuick = false }
        return target.answer(
            isQuick: isQuick,
            isResident: { grid == nil && (ready.map { target.revision.isResident(tile, of: $0) } ?? false) }
        ) { (revision, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: Double(tile.z), call)
            switch encoding {
            case .json: try revision.writeTile(content, of: view, into: &bytes, call.cancellation)
            case .mvt: try revision.writeVectorTile(content, of: view, into: &bytes, call.cancellation)
            }
        }
    }

    private static func grid(_ params: Params, _ tile: TileAddress) throws(RPCError) -> Int? {
        guard let depth = try params.optionalInteger(.grid) else { return nil }
        guard tile.z + Int(depth) <= GridSquares.deepestZoom else {
            throw params.invalid(.grid, "must be at most \(GridSquares.deepestZoom) together with params.z.")
        }
        return Int(depth)
    }

    private static func tile(_ params: Params) throws(RPCError) -> TileAddress {
        let z = Int(try params.integer(.tileZoom))
        let x = Int(try params.integer(.tileColumn, in: 0...(1 << z) - 1))
        let y = Int(try params.integer(.tileRow, in: 0...(1 << z) - 1))
        guard let tile = TileAddress(z: z, x: x, y: y) else {
            throw params.invalid(.tileZoom, "names no tile.")
        }
        return tile
    }
}

/// The encodings in which `GetTile` answers.
enum TileEncoding: String {
    case json
    case mvt
}

/// What a tile shows.
private struct TileContent {
    let tile: TileAddress
    /// How many zooms below the tile's its squares are; nil if it shows clusters.
    let grid: Int?
    let layer: String
    let output: FeatureOutput
    /// Whether the answer consists of the tile's bytes alone, without JSON.
    let isRaw: Bool

    /// Whether the answer is short enough for the loop's thread.
    func isQuick(in view: View) -> Bool {
        let most = output.restriction == nil ? ShortListing.features : ShortListing.counted
        guard grid == nil else { return view.isQuickToCount(within: most) }
        return output.include.isDisjoint(with: .costly) && view.expectedNodes(inTileOf: tile.z) <= most
    }
}

extension Revision {
    fileprivate func writeTile(
        _ content: TileContent, of view: View, into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        guard let depth = content.grid else {
            return try writeTile(content.tile, of: view, output: content.output, into: &bytes, cancellation)
        }
        try writeTileGrid(
            content.tile, depth: depth, of: view, output: content.output, into: &bytes, cancellation)
    }

    /// Writes a tile as a Mapbox Vector Tile, base64-encoded unless the answer is raw.
    fileprivate func writeVectorTile(
        _ content: TileContent, of view: View, into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        if content.isRaw { return try appendVectorTile(content, of: view, into: &bytes, cancellation) }
        guard content.output.form == .json else {
            let start = bytes.beginField(TypedFields.GetTileResponse.tile)
            try appendVectorTile(content, of: view, into: &bytes, cancellation)
            bytes.endField(start)
            return endAnswer(&bytes, form: content.output.form)
        }
        var encoded = ByteWriter(capacity: 8192)
        try appendVectorTile(content, of: view, into: &encoded, cancellation)
        bytes.append("{\"tile\":\"")
        encoded.withBytes { Base64.append($0, to: &bytes) }
        bytes.append("\"")
        endAnswer(&bytes)
    }

    private func appendVectorTile(
        _ content: TileContent, of view: View, into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        guard let depth = content.grid else {
            return try appendVectorTile(
                content.tile, of: view, layer: content.layer, output: content.output, into: &bytes, cancellation)
        }
        try appendVectorTileGrid(
            content.tile, depth: depth, of: view, layer: content.layer, output: content.output, into: &bytes,
            cancellation)
    }
}
