// SPDX-License-Identifier: MIT
import Clustering
import ImageStore
import SystemSupport

/// How far the journals go beyond the newest snapshot, in changes of data.
package struct JournalPosition: Equatable, Sendable {
    package private(set) var count = 0
    /// A hash of the revisions and the moments of all changes. Journals of other data have another one.
    private(set) var digest: UInt64 = 0

    package init() {}

    init(count: Int, digest: UInt64) { (self.count, self.digest) = (count, digest) }

    /// Adds a change whose record names this revision.
    mutating func add(_ revision: UInt64, at moment: Timestamp) {
        count += 1
        for value in [revision, UInt64(bitPattern: moment.milliseconds)] {
            digest = (digest ^ value) &* 0x9e37_79b9_7f4a_7c15
            digest ^= digest >> 32
        }
    }
}

/// The clusters that the changes since a snapshot have made, in a file beside the journal: `1.checkpoint`. With it,
/// a start replays these changes without clustering, which reads much of the index.
///
/// It only saves time, since the journal has all changes. One that is damaged, or belongs to another snapshot or
/// journal, is ignored.
struct Checkpoint {
    /// The last change that it includes.
    let position: JournalPosition
    let bounds: Box?
    private let reader: SectionFileReader

    /// Rises when a section changes its meaning, also if a part of the index or the order of its changes does.
    private static let format: UInt64 = 1

    private enum Section {
        /// `format` and the members of `position`, 64 bits each.
        static let position: UInt32 = 1
        /// Four degrees, or nothing.
        static let bounds: UInt32 = 2

        static func delta(_ section: DeltaSection) -> UInt32 { 0x100 + section.rawValue }
    }

    /// Writes a revision's delta. Blocks: only for threads of the pool.
    ///
    /// - Parameter generation: that of the snapshot from which the revision goes on by updates in place.
    static func write(
        _ revision: Revision, _ position: JournalPosition, generation: UInt64, to path: String
    ) throws(FileError) {
        let writer = try SectionFileWriter(path)
        try writer.add(Section.position, [format, UInt64(position.count), position.digest])
        try writer.add(Section.bounds, revision.bounds?.edges ?? [])
        for (section, bytes) in revision.view.index.deltaSections {
            try writer.add(Section.delta(section), bytes)
        }
        // A power loss leaves a file that the checksums reject. Syncs would make updates wait.
        try writer.finish(generation: generation, isSynced: false)
    }

    /// Nil if there is none, or it can't be used.
    init?(_ path: String, generation: UInt64) {
        guard let reader = try? SectionFileReader(path, .whole), reader.generation == generation,
            let position: [UInt64] = try? reader.values(Section.position, count: 3),
            position[0] == Self.format, let count = Int(exactly: position[1]),
            let bounds: [Double] = try? reader.values(Section.bounds)
        else { return nil }
        self.reader = reader
        self.position = JournalPosition(count: count, digest: position[2])
        self.bounds = Box(edges: bounds)
    }

    /// How many of a snapshot's changes it includes; nil if it is not one of them.
    func end(in changes: [JournalRecord.Entry]) -> Int? {
        var reached = JournalPosition()
        for (number, change) in changes.enumerated() where !change.record.isProgress {
            reached.add(change.revision, at: change.moment)
            if reached.count == position.count { return reached == position ? number + 1 : nil }
        }
        return nil
    }

    /// A snapshot's index with the changes; nil if they do not belong to it.
    func index(over index: ClusterIndex) -> ClusterIndex? {
        let sections = DeltaSection.allCases.map { ($0, reader.bytes(Section.delta($0))) }
        return withExtendedLifetime(reader) { index.with(deltaSections: Dictionary(uniqueKeysWithValues: sections)) }
    }
}
