// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// The cluster that a call concerns.
struct ClusterSubject: Sendable {
    let id: Int64
    let target: QueryTarget
    /// The zoom at which the cluster was found. Only a filter that depends on the zoom needs it.
    private let zoom: Double?

    var revision: Revision { target.revision }

    init(_ params: Params, _ catalog: SourceCatalog) throws(RPCError) {
        target = try catalog.target(params)
        id = try params.integer("clusterId")
        zoom = try params.optionalNumber("zoom")
        guard zoom != nil || target.filter?.mentionsZoom != true else {
            throw .invalidParam(
                params.path(of: "zoom"),
                "is missing: the filter depends on the zoom, so the zoom at which the cluster was found is needed."
            )
        }
    }

    /// - Parameter cost: the number of features to write or examine, given a view that is ready.
    func answer(
        cost: (View) -> Int,
        _ write: @escaping @Sendable (View, inout ByteWriter, Cancellation) throws(SourceError) -> Void
    ) -> PreparedAnswer {
        let ready = revision.readyView(target.filter, zoom: zoom)
        return target.answer(isQuick: ready.map { cost($0) <= ShortListing.features } ?? false) {
            [target, zoom] (revision, call, bytes) throws(SourceError) in
            let view = try revision.view(target.filter, zoom: zoom, call.cancellation)
            try write(view, &bytes, call.cancellation)
        }
    }
}
