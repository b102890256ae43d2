// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine
import SystemSupport

/// The cluster that a call concerns.
struct ClusterSubject: Sendable {
    let id: Int64
    let target: QueryTarget
    /// The zoom at which the cluster was found. Only a filter that depends on the zoom needs it.
    private let zoom: Double?

    var revision: Revision { target.revision }

    init(_ params: Params, _ catalog: SourceCatalog) throws(RPCError) {
        target = try catalog.target(params)
        id = try params.integer(.clusterID)
        zoom = try params.optionalNumber(.zoomOfCluster)
        guard zoom != nil || target.filter?.mentionsZoom != true else {
            throw params.invalid(
                .zoomOfCluster,
                "is missing: the filter depends on the zoom, so the zoom at which the cluster was found is needed.")
        }
    }

    /// - Parameter cost: the number of features to write or examine, given a view that is ready.
    func answer(
        cost: (View) -> Int,
        _ write: @escaping @Sendable (View, inout ByteWriter, Cancellation) throws(SourceError) -> Void
    ) -> PreparedAnswer {
        let ready = target.readyView(zoom: zoom)
        return target.answer(isQuick: ready.map { cost($0) <= ShortListing.features } ?? false) {
            [target, zoom] (_, call, bytes) throws(SourceError) in
            let view = try target.view(ready, zoom: zoom, call)
            try write(view, &bytes, call.cancellation)
        }
    }
}

/// `GetChildren`: returns a cluster's children at the next zoom.
struct GetChildren: UnaryMethod {
    let declaration = MethodDeclaration.getChildren
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        let output = FeatureOutput(form: call.form.features)
        return subject.answer(cost: { subject.revision.childCount(of: subject.id, in: $0) }) {
            (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeChildren(
                of: subject.id, in: view, output: output, into: &bytes, cancellation)
        }
    }
}

/// `GetLeaves`: returns a page of a cluster's points.
struct GetLeaves: UnaryMethod {
    let declaration = MethodDeclaration.getLeaves
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        let output = FeatureOutput(form: call.form.features)
        let limit = Int(try params.integer(.leafLimit))
        let offset = Int(try params.integer(.offset))
        func cost(_ view: View) -> Int {
            let count = subject.revision.pointCount(of: subject.id, in: view)
            return limit == 0 ? count : min(count, limit)
        }
        return subject.answer(cost: cost) { (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeLeaves(
                of: subject.id, in: view, limit: limit, offset: offset, output: output, into: &bytes,
                cancellation)
        }
    }
}

/// `GetClusterExpansionZoom`: returns the zoom at which a cluster splits.
struct GetClusterExpansionZoom: UnaryMethod {
    let declaration = MethodDeclaration.getClusterExpansionZoom
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        return subject.answer(cost: { _ in 1 }) { (view, bytes, _) throws(SourceError) in
            try subject.revision.writeExpansionZoom(of: subject.id, in: view, into: &bytes)
        }
    }
}

/// `GetConvexHull`: returns the convex hull of a cluster's points.
struct GetConvexHull: UnaryMethod {
    let declaration = MethodDeclaration.getConvexHull
    let catalog: SourceCatalog

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let subject = try ClusterSubject(params, catalog)
        return subject.answer(cost: { subject.revision.hullCost(of: subject.id, in: $0) }) {
            (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeHull(of: subject.id, in: view, into: &bytes, cancellation)
        }
    }
}
