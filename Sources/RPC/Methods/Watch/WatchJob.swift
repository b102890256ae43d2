// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine
import Synchronization

/// Computes one change of a watched viewport.
///
/// Created on the loop's thread, run there or on a pool thread, then read on the loop's thread. libuv's hand-over
/// between the threads orders these accesses, so the class may be `Sendable` although the compiler cannot check it.
package final class WatchJob: @unchecked Sendable {
    /// The number of the revision.
    package let revision: UInt64
    private let source: Source
    /// What it reads, with the view of the filter if that was cached; nil once it has run.
    private var data: (revision: Revision, ready: View?)?
    private let filter: QueryFilter?
    private let query: ClustersQuery
    /// What the client has; after the run, what it will have.
    package private(set) var shown: ShownMarkers
    package private(set) var bytes = ByteWriter(capacity: 64)
    package private(set) var error: RPCError?
    /// The number of bytes that the change exceeds, if it is too large.
    package private(set) var exceeded: Int?

    package init(
        _ source: Source, _ revision: Revision, _ filter: QueryFilter?, _ query: ClustersQuery, from shown: ShownMarkers
    ) {
        self.revision = revision.number
        self.source = source
        self.filter = filter
        self.query = query
        data = (revision, revision.readyView(filter, zoom: query.zoom))
        self.shown = shown
    }

    /// Whether the loop's thread may run it.
    package var isQuick: Bool {
        guard let (revision, ready) = data, revision.isResident, let view = ready,
            query.output.include.isDisjoint(with: .costly)
        else {
            return false
        }
        if shown.hasTransitions, !revision.isReadyToName { return false }
        var most = ShortListing.features
        if let restriction = query.output.restriction {
            guard (try? restriction.isReady(in: revision, view)) == true else { return false }
            most = ShortListing.counted
        }
        let limit = query.output.restriction == nil ? query.limit ?? .max : .max
        let expected = min(view.expectedNodes(in: query.box, zoom: query.zoom), limit)
        return expected + shown.count <= most
    }

    /// Runs it once. Throws also if the data that it has read turned out to be damaged.
    package func run(_ call: CallContext, into bytes: inout ByteWriter) throws(RPCError) {
        guard let (revision, ready) = data else {
            throw RPCError(SourceError.defect("a change for a watcher is made twice"))
        }
        // If the data are replaced meanwhile, this thread frees them when it returns, and not the loop's.
        data = nil
        shown = try answering(call) { () throws(SourceError) -> ShownMarkers in
            let view =
                if let ready { ready } else {
                    try revision.view(filter, zoom: query.zoom, call.cancellation)
                }
            let written = try revision.writeChange(
                from: shown, to: query, of: view, into: &bytes, call.cancellation)
            try source.checkIntact(revision)
            return written
        }
    }

    package func run(_ call: CallContext, mostBytes limit: Int) {
        bytes.limitFollowing(to: limit)
        do throws(RPCError) { try run(call, into: &bytes) } catch { self.error = error }
        if bytes.hasOverflowed || error == nil && bytes.count > limit { exceeded = limit }
        bytes.liftLimit()
    }
}

/// Counts the features that all watching clients have; remembering each takes tens of bytes. Safe from any thread.
final class WatchBudget: Sendable {
    private let count = Atomic<Int>(0)
    private let settings: LiveSettings

    /// The part of the limit that each user has, as a divisor.
    private static let usersPart = 4

    init(settings: LiveSettings) { self.settings = settings }

    /// Records that a client's number of features has changed. Throws if all watches together, and those of its
    /// user, have too many.
    func change(from old: Int, to new: Int, of share: UserShare) throws(RPCError) {
        let total = count.add(new - old, ordering: .relaxed).newValue
        share.add(new - old, to: .watched)
        let limit = settings.values.limits.maxWatchedFeatures
        guard new > old, total > limit, share[.watched] > limit / Self.usersPart else { return }
        giveBack(new - old, of: share)
        throw RPCError(
            .resourceExhausted,
            "Too many features are watched. Watch a smaller bbox, or give a limit, or try again later.")
    }

    /// Releases the features of a watch that has ended.
    func giveBack(_ features: Int, of share: UserShare) {
        count.subtract(features, ordering: .relaxed)
        share.add(-features, to: .watched)
    }
}
