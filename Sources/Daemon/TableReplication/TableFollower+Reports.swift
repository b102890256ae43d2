// SPDX-License-Identifier: MIT
import RPC
import JSON
import PostgresFeed
import ReplicationLog
import SourceEngine
import SystemSupport

/// Reports the state of a source that follows a table.
extension TableFollower {
    var fields: JSONObject {
        ["source": .string(source.name.text), "table": .string(settings.declaredTable)]
    }

    func count(_ skipped: SkippedRows) {
        for reason in SkippedRows.Reason.allCases where skipped[reason] > 0 {
            status.skippedReasons[reason.rawValue, default: 0] += skipped[reason]
        }
    }

    func count(_ reasons: [String: Int]) {
        for (reason, count) in reasons { status.skippedReasons[reason, default: 0] += count }
    }

    func copied(_ outcome: ImportOutcome, _ end: CopyEnd) {
        status.skippedReasons = outcome.skippedReasons
        count(end.skipped)
        refresh()
        let took = (MonotonicClock.now() - copyBegan) / 1_000_000
        log.write(
            .info, "the table is copied",
            [
                "source": .string(source.name.text), "table": .string(settings.declaredTable),
                "points": .number(Double(outcome.description.revision.pointCount)),
                "skipped": .number(Double(outcome.skipped + end.skipped.total)),
                "position": .string(end.position.log.description), "ms": .number(Double(took)),
            ])
    }

    /// Updates the reported state of the source.
    func refresh() {
        guard let feed, !ending.isEnding else { return }
        let reached = source.revision.logs.table.flatMap { LogPosition($0.mark.position)?.rawValue }
        if let server = feed.serverPosition?.rawValue, let reached {
            status.lagBytes = server > reached ? server - reached : 0
        }
        status.lagMilliseconds = Double(feed.lagMilliseconds)
        if source.replication != status { source.replication = status }
    }

    func take(_ state: FeedState) {
        status.isStale = false
        switch state {
        case .connecting: status.state = .waiting
        case .waiting(let reason): (status.state, status.note) = (.waiting, reason)
        case .copying: (status.state, status.note) = (.copying, nil)
        // The feed finishes a copy before the copy is clustered.
        case .following: (status.state, status.note) = (copy == nil ? .following : .copying, nil)
        case .failed(let reason):
            (status.state, status.note) = (.waiting, reason)
            status.isStale = true
        }
    }
}
