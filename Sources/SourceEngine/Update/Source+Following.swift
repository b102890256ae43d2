// SPDX-License-Identifier: MIT
import GeoJSON
import SystemSupport

/// Sources whose data follow logs: a table's, or feeds. The reader of a log applies its changes here, in their order
/// and from one thread at a time.
extension Source {
    /// Makes the changes of transactions visible at once, and stores them together with the mark after them.
    ///
    /// Blocks: only for threads of the pool.
    ///
    /// - Parameter gather: adds the changes. If these change nothing, only the mark advances.
    /// - Returns: the number of rows left out because they are not features of this source, by reason.
    /// - Complexity: that of `update`.
    public func follow(
        to mark: LogMark, at moment: Timestamp = .now, _ cancellation: Cancellation,
        _ gather: (inout LogStep) throws(SourceError) -> Void
    ) throws(SourceError) -> [String: Int] {
        try follow(to: mark, of: nil, at: moment, cancellation, gather).step.skippedReasons
    }

    /// Applies items of a feed's log one after another, visible at once and stored together with the position of the
    /// last. Blocks: only for threads of the pool.
    ///
    /// - Parameter policy: what to do with invalid features: leave them out, or apply only the items before theirs.
    public func apply(
        _ items: [LogItem], of claim: FeedClaim, _ policy: InvalidFeaturePolicy, _ cancellation: Cancellation
    ) throws(SourceError) -> AppliedItems {
        var items = items[...]
        var rejected: RejectedItem?
        while let last = items.last {
            var index: Int?
            do throws(SourceError) {
                let mark = LogMark(position: last.position)
                let passed = items.dropLast().map(\.position)
                let (step, revision) = try follow(to: mark, of: claim.log, passing: passed, cancellation) {
                    (step) throws(SourceError) in
                    // Another stream has taken the log, and it knows how far this one came.
                    guard !claim.isLost else { throw .cancelled }
                    try checkWritable(.features)
                    try step.add(Array(items), policy, rejected: &index)
                }
                feeds.count(step.counts.changes, of: claim.log)
                return AppliedItems(
                    position: last.position, counts: step.counts, revision: revision.number, rejected: rejected)
            } catch {
                guard let index else { throw error }
                rejected = RejectedItem(index: index, error: error)
                items = items.prefix(index)
            }
        }
        return AppliedItems(position: nil, counts: LogCounts(), revision: revision.number, rejected: rejected)
    }

    /// Makes a claim the only one that applies its log, and returns how far the log was applied. Nothing of an earlier
    /// claim's items is applied afterwards. Blocks: only for threads of the pool.
    public func follow(
        by claim: FeedClaim, _ cancellation: Cancellation
    ) throws(SourceError) -> (position: String?, revision: UInt64) {
        try withChangeLock(cancellation) { () throws(SourceError) in
            let revision = try changeable()
            try feeds.take(claim, revision.logs)
            let position = revision.logs[.feed(claim.log)]?.position
            // The changes of a known log have been waiting already.
            if position == nil { prepareForUpdates(of: revision) }
            return (position, revision.number)
        }
    }

    /// Lets the first changes of a log take no longer than later ones, if there is memory for it.
    private func prepareForUpdates(of revision: Revision) {
        let view = revision.view
        guard revision.pointCount > 0, LiveUpdate.isFollowable(view, revision.options),
            shared.memory.hasRoom(for: view.index.bytesOfPreparation)
        else { return }
        view.index.prepareForUpdates()
        shared.memory.fitPages()
    }

    /// The stream of a claim has ended.
    public func release(_ claim: FeedClaim) { feeds.release(claim, revision.logs) }

    /// Whether logs are applied to the source, so that a position may be waited for.
    public var followsFeeds: Bool { feeds.isFollowing(revision.logs) }

    /// Whether the data have reached a position of some feed's log that this process knows.
    public func hasReached(_ position: String) -> Bool {
        feeds.had(position) || revision.logs.feeds.contains { $0.mark.position.utf8.elementsEqual(position.utf8) }
    }

    private func follow(
        to mark: LogMark, of feed: String?, passing passed: [String] = [], at moment: Timestamp = .now,
        _ cancellation: Cancellation, _ gather: (inout LogStep) throws(SourceError) -> Void
    ) throws(SourceError) -> (step: LogStep, revision: Revision) {
        var made: LogStep?
        let revision = try change(cancellation) { (base) throws(SourceError) -> Change in
            let log = try base.log(of: feed, at: mark)
            var step = LogStep(self, base, moment, cancellation)
            try gather(&step)
            made = step
            var change = try step.change(log)
            change.passed = passed
            return change
        }
        guard let made else { throw .defect("a change of a log was not made") }
        return (made, revision)
    }

    /// Makes the change of a journal's record again.
    func follow(_ change: JournalRecord.Entry, _ changes: LogChanges) throws(SourceError) {
        guard let mark = change.mark else { throw .defect("a record has no position of its log") }
        _ = try follow(to: mark, of: change.feed, at: change.moment, .never) { (step) throws(SourceError) in
            try step.add(changes)
        }
    }

    /// The first of a journal's changes if they are a feed's and so many that clustering everything once takes less time
    /// than following each; none otherwise.
    func manyChanges(_ changes: ArraySlice<JournalRecord.Entry>) -> ArraySlice<JournalRecord.Entry> {
        // Of features that expire, each keeps the moment of its own change.
        guard let feed = changes.first?.feed, revision.options.ttlSeconds == nil else { return changes.prefix(0) }
        var bytes = 0
        let found = changes.prefix { change in
            guard change.feed == feed, change.mark != nil, case .update(let upserts, _) = change.record,
                bytes < Self.mostBytesTogether
            else { return false }
            bytes += upserts.count
            return true
        }
        let enough = LogStep.fewChanges(among: revision.pointCount) * Self.bytesOfFeature
        return bytes > enough ? found : changes.prefix(0)
    }

    /// What is read of a journal at once.
    private static let mostBytesTogether = 64 << 20
    /// About as many has the text of a small feature.
    private static let bytesOfFeature = 100

    /// Makes changes of a journal again, all at once.
    func follow(_ changes: ArraySlice<JournalRecord.Entry>) throws(SourceError) {
        guard let last = changes.last, let mark = last.mark else { return }
        var items: [LogItem] = []
        for change in changes {
            guard let mark = change.mark, case .update(let upserts, let removals) = change.record else { continue }
            items.append(
                LogItem(position: mark.position, upserts: upserts, removals: try Self.identifiers(removals)))
        }
        _ = try follow(to: mark, of: last.feed, passing: items.dropLast().map(\.position), at: last.moment, .never) {
            (step) throws(SourceError) in
            var rejected: Int?
            try step.add(items, .skip, isReplay: true, rejected: &rejected)
        }
    }

    /// Notes a position that the current data have reached, so that calls may wait for it.
    func note(_ log: FollowedLog, passed: [String]) {
        guard let feed = log.origin.feed else { return }
        feeds.note(passed + [log.mark.position], of: feed)
        positionObservers.notify()
    }

    /// Advances the position of the table: the log contains no changes to it up to `mark`.
    ///
    /// - Parameter isLater: whether the mark comes after the known one.
    public func follow(upTo mark: LogMark, if isLater: (LogMark) -> Bool) {
        revision.follow(upTo: mark, if: isLater)
        positionObservers.notify()
    }

    /// Writes the mark of `follow(upTo:)` to the journal, or writes a snapshot if a published copy has not been stored
    /// yet. Blocks: only for threads of the pool.
    public func keepMark(_ cancellation: Cancellation = .never) throws(SourceError) {
        try withChangeLock(cancellation) { () throws(SourceError) in try keepProgress() }
        // After large changes nothing else starts a compaction while no more come.
        compactIfGrown(revision)
        saveIfWorthwhile()
    }

    /// Whether the source is stored on disk.
    public var isKept: Bool { files != nil }

    /// Calls back when the data reach a later position or follow another log, and when the source is deleted.
    ///
    /// - Parameter callback: as with `observe`.
    public func observePosition(_ callback: @escaping @Sendable () -> Void) -> SourceObservation {
        SourceObservation(positionObservers, callback)
    }

    /// Throws if the source's data come from a table or are an image, so that callers must not change them. A source
    /// with an image can be deleted.
    ///
    /// - Parameters:
    ///   - advice: what the message recommends instead.
    ///   - replacesImage: whether another image may replace the image.
    public func checkWritable(_ advice: WriteAdvice, replacesImage: Bool = false) throws(SourceError) {
        if let image, advice != .source, !replacesImage { throw .attached(name, image) }
        guard let replication else { return }
        throw .followsTable(name, replication.table, advice)
    }
}

extension Revision {
    /// A log of these data at a mark.
    ///
    /// - Parameter feed: nil for the table of which they are a copy.
    func log(of feed: String?, at mark: LogMark) throws(SourceError) -> FollowedLog {
        if let feed { return FollowedLog(origin: .feed(feed), mark: mark) }
        guard let table = logs.table else { throw .defect("changes came for data that follow no log") }
        return FollowedLog(origin: table.origin, mark: mark)
    }
}

/// What items of a log have changed.
public struct AppliedItems: Sendable {
    /// The position of the last item that was applied; nil if none was.
    public let position: String?
    public let counts: LogCounts
    public let revision: UInt64
    /// The first item that was not applied, by its index among the items; nil if all were.
    public let rejected: RejectedItem?
}

/// An item of a log that was not applied.
public struct RejectedItem: Sendable {
    public let index: Int
    /// A bad feature is named by its index in the item, an id by its path in it.
    public let error: SourceError
}

/// How many features items of a log have changed, summed over the items.
public struct LogCounts: Sendable, Equatable {
    public var inserted = 0
    public var updated = 0
    public var removed = 0
    /// Ids to remove that no feature had.
    public var missing = 0
    /// Invalid features that were left out.
    public var skipped = 0

    public init() {}

    public var changes: Int { inserted + updated + removed }

    public static func += (sum: inout LogCounts, counts: LogCounts) {
        sum.inserted += counts.inserted
        sum.updated += counts.updated
        sum.removed += counts.removed
        sum.missing += counts.missing
        sum.skipped += counts.skipped
    }
}
