// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// Calls about one cluster.
extension ClusterService {
    var clusterHandlers: [(String, SimpleHandler)] {
        [
            (
                "GetChildren",
                handler(
                    cost: { revision, view, id, _ in revision.childCount(of: id, in: view) },
                    answer: Self.children)
            ),
            (
                "GetLeaves",
                handler(
                    ["limit", "offset"],
                    cost: { revision, view, id, params in
                        let count = revision.pointCount(of: id, in: view)
                        let limit = (try? params.optionalInteger("limit")) ?? Self.leavesOfAPage
                        return limit == 0 ? count : min(count, Int(clamping: limit))
                    }, answer: Self.leaves)
            ),
            ("GetClusterExpansionZoom", handler(cost: { _, _, _, _ in 1 }, answer: Self.expansionZoom)),
            (
                "GetConvexHull",
                handler(
                    cost: { revision, view, id, _ in revision.hullCost(of: id, in: view) }, answer: Self.hull)
            ),
        ]
    }

    private static let leavesOfAPage: Int64 = 10

    /// A cluster's id and where it is looked up.
    private struct Subject {
        let id: Int64
        let revision: Revision
        let view: View
        let params: Params
        let cancellation: Cancellation
    }

    /// - Parameter cost: how many features are written or looked at.
    private func handler(
        _ more: [String] = [], cost: @escaping @Sendable (Revision, View, Int64, Params) -> Int,
        answer: @escaping @Sendable (Subject, inout ByteWriter) throws(SourceError) -> Void
    ) -> SimpleHandler {
        let catalog = catalog
        return SimpleHandler(
            more + ["source", "clusterId", "filter", "revision"],
            place: { (params) throws(RPCError) -> Placement in
                let id = try params.integer("clusterId")
                for name in more { _ = try params.optionalInteger(name, in: 0...(1 << 53)) }
                let revision = try catalog.revision(params)
                guard let view = revision.readyView(catalog.filter(params), zoom: nil) else { return .pool }
                return cost(revision, view, id, params) > Self.shortListing ? .pool : .loop
            },
            answer: { (params, call, bytes) throws(RPCError) in
                let id = try params.integer("clusterId")
                let revision = try catalog.revision(params)
                let filter = catalog.filter(params)
                try answering(call) { () throws(SourceError) in
                    let view = try revision.view(filter, zoom: nil, call.cancellation)
                    let subject = Subject(
                        id: id, revision: revision, view: view, params: params,
                        cancellation: call.cancellation)
                    try answer(subject, &bytes)
                }
            })
    }

    @Sendable private static func children(_ subject: Subject, _ bytes: inout ByteWriter) throws(SourceError)
    {
        try subject.revision.writeChildren(
            of: subject.id, in: subject.view, into: &bytes, subject.cancellation)
    }

    @Sendable private static func leaves(_ subject: Subject, _ bytes: inout ByteWriter) throws(SourceError) {
        // Both were checked when the call was placed.
        let limit = (try? subject.params.optionalInteger("limit")) ?? leavesOfAPage
        let offset = (try? subject.params.optionalInteger("offset")) ?? 0
        try subject.revision.writeLeaves(
            of: subject.id, in: subject.view, limit: Int(clamping: limit), offset: Int(clamping: offset),
            into: &bytes, subject.cancellation)
    }

    @Sendable private static func expansionZoom(
        _ subject: Subject, _ bytes: inout ByteWriter
    ) throws(SourceError) {
        try subject.revision.writeExpansionZoom(of: subject.id, in: subject.view, into: &bytes)
    }

    @Sendable private static func hull(_ subject: Subject, _ bytes: inout ByteWriter) throws(SourceError) {
        try subject.revision.writeHull(of: subject.id, in: subject.view, into: &bytes, subject.cancellation)
    }
}
