// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// `GetClusters`, the call that apps make with every movement of a map: params are read and the source is
/// looked up once, for the call's place and for its answer.
struct ClustersHandler: UnaryHandler {
    let catalog: SourceCatalog

    func placement(_ params: Params) throws(RPCError) -> Placement { try prepare(params).placement }

    func answer(_ params: Params, _ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
        try prepare(params).answer(call, &bytes)
    }

    func prepare(_ params: Params) throws(RPCError) -> PreparedAnswer {
        try params.rejectUnknown(SourceCatalog.clustersParams)
        let query = try catalog.clustersQuery(params)
        let source = try catalog.source(params)
        let revision = try catalog.revision(params, of: source)
        let filter = catalog.filter(params)
        let ready = revision.readyView(filter, zoom: query.zoom)
        // A filter's view is asked for again, which keeps it in use.
        let own = filter == nil ? ready : nil
        return PreparedAnswer(placement: place(query, ready, in: revision)) {
            (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                let view =
                    if let own { own } else {
                        try revision.view(filter, zoom: query.zoom, call.cancellation)
                    }
                try revision.writeClusters(query, of: view, into: &bytes, call.cancellation)
                // The text of features may have turned out to be damaged meanwhile.
                try source.checkIntact()
            }
        }
    }

    private func place(_ query: ClustersQuery, _ view: View?, in revision: Revision) -> Placement {
        if query.output.include.contains(.key), !revision.isReadyToName { return .pool }
        guard let view, query.output.include.isDisjoint(with: .costly) else { return .pool }
        if let limit = query.limit, limit <= ClusterService.shortListing { return .loop }
        return view.expectedNodes(in: query.box, zoom: query.zoom) > ClusterService.shortListing
            ? .pool : .loop
    }
}
