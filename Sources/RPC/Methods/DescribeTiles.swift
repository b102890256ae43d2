// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import Clustering
import JSON
import SourceEngine

/// `DescribeTiles`: describes a source's tiles as TileJSON 3.0.0.
struct DescribeTiles: UnaryMethod {
    let declaration = MethodDeclaration.describeTiles
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let url = try params.string(.tilesURL)
        let target = try catalog.target(params)
        let threads = catalog.settings.values.limits.buildThreads
        return target.answer(isQuick: false) { (revision, call, bytes) throws(SourceError) in
            let zooms = revision.options.minZoom...revision.options.maxZoom + 1
            let fields = try revision.fields(of: target.filter, zooms: zooms, threads: threads, call.cancellation)
            let bounds =
                if let seen = target.seen { try revision.part(seenBy: seen, call.cancellation).bounds } else {
                    revision.bounds
                }
            bytes.append(.object(Self.document(target, url, fields, bounds)))
        }
    }

    private static func document(
        _ target: QueryTarget, _ url: String, _ fields: [String: FieldStatistics], _ bounds: Box?
    ) -> JSONObject {
        let options = target.revision.options
        let name = JSONValue.string(target.name)
        // Above the first zoom without clusters, deeper tiles show nothing new.
        let zooms: [(String, JSONValue)] = [
            ("minzoom", .number(Double(options.minZoom))), ("maxzoom", .number(Double(options.maxZoom + 1))),
        ]
        let names = fields.sorted { $0.key < $1.key }.map {
            ($0.key, JSONValue.string("\($0.value.kinds.name)"))
        }
        let layer = JSONObject([("id", name), ("fields", .object(JSONObject(names)))] + zooms)
        var document = JSONObject(
            [
                ("tilejson", .string("3.0.0")), ("name", name), ("scheme", .string("xyz")),
                ("tiles", .array([.string(url)])),
            ] + zooms)
        document["bounds"] = degrees(bounds, of: target.revision)
        document["vector_layers"] = .array([.object(layer)])
        return document
    }

    /// The bounds of Web Mercator, used while there are no points.
    private static let world: [Double] = [-180, -85.0511287798066, 180, 85.0511287798066]

    /// The bounds in degrees, as TileJSON requires. For a planar projection, the area of a map of the Earth in
    /// which its tiles appear.
    private static func degrees(_ bounds: Box?, of revision: Revision) -> JSONValue {
        let box = bounds.map { box in
            let projection = revision.options.clustering.projection
            let (west, south) = projection.degrees(x: box.west, y: box.south)
            let (east, north) = projection.degrees(x: box.east, y: box.north)
            return [west, south, east, north]
        }
        return .array((box ?? world).map { .number($0) })
    }
}
