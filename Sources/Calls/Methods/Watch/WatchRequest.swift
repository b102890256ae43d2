// SPDX-License-Identifier: MIT
import Answers
import ClusterProtocol
import JSON
import Sources

/// The params of a watching call.
struct WatchRequest {
    let source: Source
    let query: ClustersQuery
    let filter: QueryFilter?
    /// The only revision whose data the caller accepts; nil: any.
    let revision: UInt64?
    /// The maximum number of changes per second.
    let rate: Double
    /// Whether markers are identified by the feature from which they grew.
    let hasTransitions: Bool

    init(_ params: Params, _ catalog: SourceCatalog) throws(RPCError) {
        query = try catalog.clustersQuery(params)
        rate = try params.optionalNumber("maxRateHz", in: Pace.askable) ?? ParamDefaults.maxRateHz
        hasTransitions = try params.optionalBool("transitions") ?? false
        source = try catalog.source(params)
        let current = try catalog.revision(params, of: source).number
        revision = params["revision"] == nil ? nil : current
        filter = catalog.filter(params)
    }

    /// Reads an item from the client: the viewport's new position.
    static func viewport(_ item: [UInt8]) throws(RPCError) -> (Box, zoom: Double) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(item) } catch {
            throw .invalidParam("item", "is not JSON: \(error.message)")
        }
        guard case .object(let object) = value else { throw .invalidParam("item", "must be an object.") }
        let params = Params(object, path: "item")
        try params.rejectUnknown(["bbox", "zoom"])
        return (try Box(params), try params.number("zoom"))
    }
}
