// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// Calls that show a part of the map.
extension ClusterService {
    var viewportHandlers: [(String, SimpleHandler)] {
        let catalog = catalog
        return [
            (
                "GetTile",
                SimpleHandler(
                    ["source", "z", "x", "y", "encoding", "filter", "revision"],
                    place: { (params) throws(RPCError) in try catalog.placeTile(params) },
                    answer: { (params, call, bytes) throws(RPCError) in try catalog.tile(params, call, &bytes)
                    })
            ),
            (
                "LocateFeature",
                SimpleHandler(
                    ["source", "featureId", "zoom", "filter", "revision"],
                    place: { (params) throws(RPCError) in try catalog.placeLocation(params) },
                    answer: { (params, call, bytes) throws(RPCError) in
                        try catalog.location(params, call, &bytes)
                    })
            ),
        ]
    }
}

extension SourceCatalog {
    /// What `GetClusters` and those like it know.
    static let clustersParams = [
        "source", "bbox", "zoom", "limit", "properties", "precision", "filter", "include", "revision",
    ]

    func clustersQuery(_ params: Params) throws(RPCError) -> ClustersQuery {
        let limit = try params.optionalInteger("limit", in: 0...(1 << 53))
        return ClustersQuery(
            box: try Box(params), zoom: try params.number("zoom"), limit: limit.map { Int($0) },
            output: try output(params))
    }

    private func tilePlace(_ params: Params) throws(RPCError) -> TilePlace {
        let z = Int(try params.integer("z", in: 0...Int64(TilePlace.deepest)))
        let x = Int(try params.integer("x", in: 0...(1 << z) - 1))
        let y = Int(try params.integer("y", in: 0...(1 << z) - 1))
        guard let tile = TilePlace(z: z, x: x, y: y) else {
            throw .invalidParam(params.path(of: "z"), "names no tile.")
        }
        return tile
    }

    private func tileEncoding(_ params: Params) throws(RPCError) -> TileEncoding {
        guard let encoding = TileEncoding(rawValue: try params.optionalString("encoding") ?? "json") else {
            throw .invalidParam(params.path(of: "encoding"), "must be \"json\" or \"mvt\".")
        }
        return encoding
    }

    fileprivate func placeTile(_ params: Params) throws(RPCError) -> Placement {
        let tile = try tilePlace(params)
        _ = try tileEncoding(params)
        let revision = try revision(params)
        guard let view = revision.readyView(filter(params), zoom: Double(tile.z)) else { return .pool }
        return view.expectedNodes(inTileOf: tile.z) > ClusterService.shortListing ? .pool : .loop
    }

    fileprivate func tile(_ params: Params, _ call: CallContext, _ bytes: inout ByteWriter) throws(RPCError) {
        let tile = try tilePlace(params)
        let encoding = try tileEncoding(params)
        let source = try params.string("source")
        let revision = try revision(params)
        let filter = filter(params)
        try answering(call) { () throws(SourceError) in
            let view = try revision.view(filter, zoom: Double(tile.z), call.cancellation)
            switch encoding {
            case .json: try revision.writeTile(tile, of: view, into: &bytes, call.cancellation)
            case .mvt:
                try revision.writeVectorTile(
                    tile, of: view, layer: source, into: &bytes, call.cancellation)
            }
        }
    }

    private func featureIdentifier(_ params: Params) throws(RPCError) -> FeatureIdentifier {
        guard let value = params["featureId"], let identifier = FeatureIdentifier(value) else {
            throw .invalidParam(params.path(of: "featureId"), "must be a feature's id: a number or a string.")
        }
        return identifier
    }

    fileprivate func placeLocation(_ params: Params) throws(RPCError) -> Placement {
        _ = try featureIdentifier(params)
        let zoom = try params.number("zoom")
        let revision = try revision(params)
        return revision.isReadyToLocate && revision.readyView(filter(params), zoom: zoom) != nil
            ? .loop : .pool
    }

    fileprivate func location(
        _ params: Params, _ call: CallContext, _ bytes: inout ByteWriter
    ) throws(RPCError) {
        let identifier = try featureIdentifier(params)
        let zoom = try params.number("zoom")
        let revision = try revision(params)
        let filter = filter(params)
        try answering(call) { () throws(SourceError) in
            let view = try revision.view(filter, zoom: zoom, call.cancellation)
            try revision.writeLocation(of: identifier, at: zoom, in: view, into: &bytes, call.cancellation)
        }
    }
}
