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
    let zoom: Double?

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

    /// - Parameters:
    ///   - restriction: what is shown of the cluster's points.
    ///   - cost: the number of features to write or examine, given a view that is ready.
    func answer(
        restriction: ViewRestriction? = nil, cost: (View) -> Int,
        _ write: @escaping @Sendable (View, inout ByteWriter, Cancellation) throws(SourceError) -> Void
    ) throws(RPCError) -> PreparedAnswer {
        // First, so that the error does not depend on whether the view is cached.
        try target.checkWindow(restriction?.window)
        let ready = target.readyView(zoom: zoom)
        var isQuick = ready.map { cost($0) <= ShortListing.features } ?? false
        if let ready, try !target.isReady(restriction, ready) { isQuick = false }
        return target.answer(isQuick: isQuick) {
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
        var output = try catalog.output(params)
        output.form = call.form.features
        return try subject.answer(
            restriction: output.restriction, cost: { subject.revision.childCount(of: subject.id, in: $0) }
        ) {
            [output]
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
        var output = try catalog.output(params)
        output.form = call.form.features
        let limit = Int(try params.integer(.leafLimit))
        let offset = Int(try params.integer(.offset))
        if case .columns(let geometry) = call.form {
            return subject.target.columns(call, zoom: subject.zoom) {
                [output] (revision, view, cancellation) throws(SourceError) in
                try revision.leafColumns(
                    of: subject.id, in: view, limit: limit, offset: offset, output: output, geometry: geometry,
                    cancellation)
            }
        }
        func cost(_ view: View) -> Int {
            let count = subject.revision.pointCount(of: subject.id, in: view)
            // In a window, any number of points may be read for one that counts.
            return limit == 0 || output.restriction != nil ? count : min(count, limit)
        }
        return try subject.answer(restriction: output.restriction, cost: cost) {
            [output] (view, bytes, cancellation) throws(SourceError) in
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
        return try subject.answer(cost: { _ in 1 }) { (view, bytes, _) throws(SourceError) in
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
        let restriction = try catalog.restriction(params)
        func cost(_ view: View) -> Int {
            restriction.isNone
                ? subject.revision.hullCost(of: subject.id, in: view)
                : subject.revision.pointCount(of: subject.id, in: view)
        }
        return try subject.answer(restriction: restriction, cost: cost) {
            (view, bytes, cancellation) throws(SourceError) in
            try subject.revision.writeHull(
                of: subject.id, in: view, window: restriction.window, into: &bytes, cancellation)
        }
    }
}
