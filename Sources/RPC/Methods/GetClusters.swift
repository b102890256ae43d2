// SPDX-License-Identifier: MIT
import ClusterProtocol
import Responses
import SourceEngine
import JSON

/// `GetClusters`, the call that apps make whenever a map moves.
struct GetClusters: UnaryMethod {
    let declaration = MethodDeclaration.getClusters
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let target = try catalog.target(params)
        let query = try catalog.clustersQuery(params)
        let ready = target.revision.readyView(target.filter, zoom: query.zoom)
        return target.answer(
            isQuick: isQuick(query, ready, in: target.revision),
            isAtHand: { ready.map { target.revision.isAtHand(query, of: $0) } ?? false }
        ) { (revision, call, bytes) throws(SourceError) in
            let cancellation = call.cancellation
            // A filtered view is looked up again, which marks it as recently used.
            let view = try revision.view(target.filter, zoom: query.zoom, cancellation)
            try revision.writeClusters(query, of: view, into: &bytes, cancellation)
        }
    }

    private func isQuick(_ query: ClustersQuery, _ view: View?, in revision: Revision) -> Bool {
        if query.output.include.contains(.key), !revision.isReadyToName { return false }
        guard let view, query.output.include.isDisjoint(with: .costly) else { return false }
        if let limit = query.limit, limit <= ShortListing.features { return true }
        return view.expectedNodes(in: query.box, zoom: query.zoom) <= ShortListing.features
    }
}
