// SPDX-License-Identifier: MIT
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
        let ready = target.readyView(zoom: Double(tile.z))
        var output = try catalog.output(params)
        output.form = call.form.features
        let isCheap = output.include.isDisjoint(with: .costly)
        let most = output.restriction == nil ? ShortListing.features : ShortListing.counted
        var isQuick = isCheap && ready.map { $0.expectedNodes(inTileOf: tile.z) <= most } ?? false
        if let ready, try !target.isReady(output.restriction, ready) { isQuick = false }
        let isRaw = encoding != .json && call.form == .raw
        return target.answer(
            isQuick: isQuick,
            isResident: { ready.map { target.revision.isResident(tile, of: $0) } ?? false }
        ) { [output] (revision, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: Double(tile.z), call)
            switch encoding {
            case .json:
                try revision.writeTile(
                    tile, of: view, output: output, into: &bytes, call.cancellation)
            case .mvt:
                try revision.writeVectorTile(
                    tile, of: view, layer: target.name, output: output, isRaw: isRaw, into: &bytes,
                    call.cancellation)
            }
        }
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

extension Revision {
    /// Writes a tile as a Mapbox Vector Tile, base64-encoded unless the answer is raw.
    ///
    /// - Parameter isRaw: whether the answer consists of the tile's bytes alone, without JSON.
    func writeVectorTile(
        _ tile: TileAddress, of view: View, layer: String, output: FeatureOutput, isRaw: Bool,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        if isRaw {
            return try appendVectorTile(tile, of: view, layer: layer, output: output, into: &bytes, cancellation)
        }
        guard output.form == .json else {
            let start = bytes.beginField(TypedFields.GetTileResponse.tile)
            try appendVectorTile(tile, of: view, layer: layer, output: output, into: &bytes, cancellation)
            bytes.endField(start)
            return endAnswer(&bytes, form: output.form)
        }
        var encoded = ByteWriter(capacity: 8192)
        try appendVectorTile(tile, of: view, layer: layer, output: output, into: &encoded, cancellation)
        bytes.append("{\"tile\":\"")
        encoded.withBytes { Base64.append($0, to: &bytes) }
        bytes.append("\"")
        endAnswer(&bytes)
    }
}
