// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

/// A file with the overview of a source as it is after the changes in its journals: a file of sections, with the generation of
/// the snapshot that the journals follow.
///
/// Nothing depends on it. A start ignores it unless it was written after the last change in the journals.
enum OverviewFile {
    private static let name = "overview"
    /// Several times as much as a file takes at most. Longer ones are not read.
    static let mostBytes = 1 << 26

    static func path(in directory: String) -> String { "\(directory)/\(name)" }

    /// Writes the file under a temporary name and renames it.
    ///
    /// - Parameter position: the last change that the revision has.
    static func write(
        _ revision: Revision, of identity: SourceIdentity, updatedAt: Timestamp, loss: String?,
        at position: ChangePosition, in directory: String
    ) throws(FileError) {
        let temporary = "\(directory)/\(SourceFiles.temporaryPrefix)\(name)"
        do throws(FileError) {
            let writer = try SectionFileWriter(temporary)
            guard try Overview.write(revision, .ofJournal, to: writer), !revision.isDamaged else {
                return FileIO.remove(temporary)
            }
            let aggregates = revision.view.aggregates.map { (name: $0.name, kind: $0.column.kind) }
            let description = SnapshotDescription(
                revision, of: identity, updatedAt: updatedAt, loss: loss, aggregates: aggregates)
            try writer.add(SnapshotSection.description, Array(description.json.text.utf8))
            try writer.add(SnapshotSection.overviewPosition, position.values)
            // A kill loses nothing that was written, and waiting for the disk would delay the next overview.
            try writer.finish(generation: position.snapshot, isSynced: false)
            try FileIO.rename(temporary, to: path(in: directory))
        } catch {
            FileIO.remove(temporary)
            throw error
        }
    }

    /// Whether the last change that the file's data have is at a position.
    static func isOf(_ position: ChangePosition, _ reader: SectionFileReader) throws(StateFault) -> Bool {
        try reader.values(SnapshotSection.overviewPosition) == position.values
    }
}
