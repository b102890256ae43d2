// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import JSON

/// `GetClusters`, the call that apps make whenever a map moves.
struct GetClusters: UnaryMethod {
    let declaration = MethodDeclaration.getClusters
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        var query = try catalog.clustersQuery(params)
        query.output.form = call.form.features
        if case .columns(let geometry) = call.form {
            return target.columns(call, zoom: query.zoom) {
                [query] (revision, view, cancellation) throws(SourceError) in
                try revision.clusterColumns(query, of: view, geometry: geometry, cancellation)
            }
        }
        let revision = target.revision
        let ready = target.readyView(zoom: query.zoom)
        let expected = try expectedCount(query, ready, in: target)
        var isShort = expected.map { min($0, query.limit ?? .max) <= ShortListing.features } ?? false
        var found: FoundNodes?
        // Few views have as many features as can be expected, and to find these takes less than a way through the pool.
        if let ready, let expected, query.output.restriction == nil,
            isShort ? !revision.isResident : expected <= ShortListing.found
        {
            found = revision.residentNodes(query, of: ready)
            isShort = found.map { $0.count <= ShortListing.features } ?? false
        }
        return target.answer(
            isQuick: isShort,
            isResident: { if let ready, let found { revision.isResident(found, of: ready) } else { false } }
        ) { [found, query] (revision, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: query.zoom, call)
            try revision.writeClusters(query, found, of: view, into: &bytes, call.cancellation)
        }
    }

    /// How many features may be in the box, rather too many than too few; nil if they must not be found on the loop's thread.
    private func expectedCount(_ query: ClustersQuery, _ view: View?, in target: QueryTarget) throws(RPCError) -> Int? {
        if query.output.include.contains(.key), !target.revision.isReadyToName { return nil }
        guard let view, query.output.include.isDisjoint(with: .costly) else { return nil }
        let expected = view.expectedNodes(in: query.box, zoom: query.zoom)
        guard query.output.restriction == nil else {
            return try target.isReady(query.output.restriction, view) && expected <= ShortListing.counted
                ? expected : nil
        }
        return expected
    }
}
