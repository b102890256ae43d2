// SPDX-License-Identifier: MIT
import SystemSupport

/// After a snapshot that was written while changes continued, the running source takes the snapshot's clusters.
///
/// The snapshot holds the features clustered as a whole, so its clusters have other ids than those of the running source. As long
/// as they differ, there is no overview, since it would show what a start does not give.
extension Source {
    /// Replaces the current data by those of the snapshot with the changes since, made as a start makes them: call by call, from the
    /// journal. The data are the same; clusters get other ids, as after a compaction.
    ///
    /// Does nothing if changes come faster than they can be made, or if all data are replaced meanwhile.
    ///
    /// - Parameter written: what the snapshot of the generation holds.
    func renew(from written: Revision, generation: UInt64, updatedAt: Timestamp) throws(SourceError) {
        guard let files, written.pointCount >= shared.limits.overviewPoints, shared.limits.overviewPoints > 0,
            written.log == nil
        else { return }
        let other = Source(
            files.identity, written, updatedAt: updatedAt, files: nil, shared: shared, isStandIn: true)
        var made: [JournalRecord.Entry] = []
        for _ in 0..<Self.renewalRounds {
            guard let count = try makeMore(of: generation, files, on: other, after: &made) else { return }
            guard count <= Self.fewChanges else { continue }
            return try withChangeLock { () throws(SourceError) in
                guard try makeMore(of: generation, files, on: other, after: &made) != nil else { return }
                let renewed = other.revision
                try publish(renewed.number > revision.number ? renewed : renewed.renumbered(), at: nil)
            }
        }
    }

    /// The most rounds of catching up.
    private static let renewalRounds = 8
    /// So many changes may be left when changes begin to wait.
    private static let fewChanges = 16

    /// Makes the changes that have come to the journal.
    ///
    /// - Parameter made: those that have been made before, and on return all.
    /// - Returns: how many; nil if they no longer follow from the snapshot, or from what was made.
    private func makeMore(
        of generation: UInt64, _ files: SourceFiles, on other: Source, after made: inout [JournalRecord.Entry]
    ) throws(SourceError) -> Int? {
        guard !isRetired, let changes = files.changes(since: generation), changes.count >= made.count,
            // A change that could not be stored is taken back.
            made.isEmpty || changes[made.count - 1].revision == made[made.count - 1].revision
        else { return nil }
        let more = changes[made.count...]
        for change in more { try other.make(change) }
        made += more
        return more.count
    }
}
