// SPDX-License-Identifier: MIT
import SystemSupport

/// Sources whose data follow a table. The reader of its log applies the changes here, in the order of commits and
/// from one thread at a time.
extension Source {
    /// Makes the changes of transactions visible at once, and stores them together with the mark after them.
    ///
    /// Blocks: only for threads of the pool.
    ///
    /// - Parameter gather: adds the changes. If it adds none, only the mark advances.
    /// - Returns: the number of rows left out because they are not features of this source, by reason.
    /// - Complexity: that of `update`.
    public func follow(
        to mark: LogMark, at moment: Timestamp = .now, _ cancellation: Cancellation,
        _ gather: (inout LogStep) throws(SourceError) -> Void
    ) throws(SourceError) -> [String: Int] {
        var skippedReasons: [String: Int] = [:]
        _ = try change(cancellation) { (base) throws(SourceError) -> Change in
            guard let log = base.log else { throw .defect("changes came for data that follow no log") }
            var step = LogStep(self, base, moment, cancellation)
            try gather(&step)
            if step.isEmpty { try step.add(LogChanges(upserts: JournalRecord.emptyList, removals: [])) }
            skippedReasons = step.skippedReasons
            return try step.change(FollowedLog(origin: log.origin, mark: mark))
        }
        return skippedReasons
    }

    /// Advances the position: the log contains no changes to the table up to `mark`.
    public func follow(upTo mark: LogMark) {
        revision.follow(upTo: mark)
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

    /// Throws if the source's data come from a table, so that callers must not change them.
    ///
    /// - Parameter advice: what the message recommends instead.
    public func checkWritable(_ advice: WriteAdvice) throws(SourceError) {
        guard let replication else { return }
        throw .followsTable(name, replication.table, advice)
    }
}
