// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import JSON

/// Computes one change of a watched viewport.
///
/// Created on the loop's thread, run there or on a pool thread, then read on the loop's thread. libuv's hand-over
/// between the threads orders these accesses, so the class may be `Sendable` although the compiler cannot check
/// it.
package final class WatchJob: @unchecked Sendable {
    package let revision: Revision
    private let filter: QueryFilter?
    private let query: ClustersQuery
    /// What the client has; after the run, what it will have.
    package private(set) var table: WatchTable
    package private(set) var bytes = ByteWriter(capacity: 64)
    package private(set) var error: RPCError?

    package init(
        _ revision: Revision, _ filter: QueryFilter?, _ query: ClustersQuery, from table: WatchTable
    ) {
        self.revision = revision
        self.filter = filter
        self.query = query
        self.table = table
    }

    /// Whether the loop's thread may run it.
    package var isQuick: Bool {
        guard revision.isAtHand, let view = revision.readyView(filter, zoom: query.zoom),
            query.output.include.isDisjoint(with: .costly)
        else { return false }
        if case .transitions = table, !revision.isReadyToName { return false }
        let expected = min(view.expectedNodes(in: query.box, zoom: query.zoom), query.limit ?? .max)
        return expected + table.count <= ShortListing.features
    }

    package func run(_ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
        table = try answering(call) { () throws(SourceError) -> WatchTable in
            let view = try revision.view(filter, zoom: query.zoom, call.cancellation)
            switch table {
            case .markers(let table):
                return .markers(
                    try revision.writeChange(
                        from: table, to: query, of: view, into: &bytes, call.cancellation))
            case .transitions(let shown):
                return .transitions(
                    try revision.writeTransitions(
                        from: shown, to: query, of: view, into: &bytes, call.cancellation))
            }
        }
    }

    package func run(_ call: CallContext, mostBytes limit: Int) {
        bytes.limitFollowing(to: limit)
        do throws(RPCError) {
            try run(call, into: &bytes)
            if bytes.hasOverflowed || bytes.count > limit {
                throw AnswerBuilder.tooLarge(limit + AnswerBuilder.envelope)
            }
        } catch { self.error = error }
        bytes.liftLimit()
    }
}
