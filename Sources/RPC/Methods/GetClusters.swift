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
        let isShort = try isShort(query, ready, in: target)
        var found: FoundNodes?
        if let ready, isShort, query.output.restriction == nil, !revision.isResident {
            found = revision.residentNodes(query, of: ready)
        }
        return target.answer(
            isQuick: isShort,
            isResident: { if let ready, let found { revision.isResident(found, of: ready) } else { false } }
        ) { [found, query] (revision, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: query.zoom, call)
            try revision.writeClusters(query, found, of: view, into: &bytes, call.cancellation)
        }
    }

    private func isShort(_ query: ClustersQuery, _ view: View?, in target: QueryTarget) throws(RPCError) -> Bool {
        if query.output.include.contains(.key), !target.revision.isReadyToName { return false }
        guard let view, query.output.include.isDisjoint(with: .costly) else { return false }
        guard query.output.restriction == nil else {
            return try target.isReady(query.output.restriction, view)
                && view.expectedNodes(in: query.box, zoom: query.zoom) <= ShortListing.counted
        }
        if let limit = query.limit, limit <= ShortListing.features { return true }
        return view.expectedNodes(in: query.box, zoom: query.zoom) <= ShortListing.features
    }
}
