// SPDX-License-Identifier: MIT
import Clustering
import ImageStore
import JSON
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
    private let reader: SectionFileReader
    /// The named views that it has, in the order of their sections.
    private let views: [String]

    /// Rises when a section changes its meaning, also if a part of the index or the order of its changes does.
    private static let format: UInt64 = 1

    private enum Section {
        /// `format` and the members of `position`, 64 bits each.
        static let position: UInt32 = 1
        /// Four degrees, or nothing.
        static let bounds: UInt32 = 2
        /// The names of the views, as a JSON array, if there are any. A view that is not among them is clustered after the changes.
        static let views: UInt32 = 3

        static func delta(_ section: DeltaSection) -> UInt32 { 0x100 + section.rawValue }
    }

    /// Writes a revision's delta. Blocks: only for threads of the pool.
    ///
    /// - Parameters:
    ///   - views: its named views that go on from the snapshot's too.
    ///   - generation: that of the snapshot from which the revision goes on by updates in place.
    static func write(
        _ revision: Revision, _ views: [Revision], _ position: JournalPosition, generation: UInt64, to path: String
    ) throws(FileError) {
        let writer = try SectionFileWriter(path)
        try writer.add(Section.position, [format, UInt64(position.count), position.digest])
        if !views.isEmpty {
            var names = ByteWriter()
            names.append(.array(views.map { .string($0.name?.text ?? "") }))
            try writer.add(Section.views, names.bytes)
        }
        for (number, view) in ([revision] + views).enumerated() {
            try writer.add(SnapshotSection.of(view: number, Section.bounds), view.bounds?.edges ?? [])
            // A view that has not changed has no delta.
            guard !view.view.index.isPlain else { continue }
            for (section, bytes) in view.view.index.deltaSections {
                try writer.add(SnapshotSection.of(view: number, Section.delta(section)), bytes)
            }
        }
        // A power loss leaves a file that the checksums reject. Syncs would make updates wait.
        try writer.finish(generation: generation, isSynced: false)
    }

    /// Nil if there is none, or it can't be used.
    init?(_ path: String, generation: UInt64) {
        guard let reader = try? SectionFileReader(path, .whole), reader.generation == generation,
            let position: [UInt64] = try? reader.values(Section.position, count: 3),
            position[0] == Self.format, let count = Int(exactly: position[1])
        else { return nil }
        self.reader = reader
        var views: [String] = []
        if case .array(let names)? = try? JSONReader.parse(reader.bytes(Section.views)) {
            views = names.map { if case .string(let name) = $0 { name } else { "" } }
        }
        self.views = views
        self.position = JournalPosition(count: count, digest: position[2])
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

    /// A view of the snapshot with the changes that are still to be replayed; nil if they do not belong to it, or the
    /// checkpoint does not have the view.
    ///
    /// - Parameter name: nil for the source's own clusters.
    func ahead(_ view: View, _ name: SourceName? = nil) -> View? {
        var number = 0
        if let name {
            guard let index = views.firstIndex(of: name.text) else { return nil }
            number = index + 1
        }
        let edges: [Double]? = try? reader.values(SnapshotSection.of(view: number, Section.bounds))
        guard let edges else { return nil }
        let bounds = Box(edges: edges)
        let name = { (section: DeltaSection) in SnapshotSection.of(view: number, Section.delta(section)) }
        guard reader.has(name(.counts)) else { return view.ahead(view.index, bounds: bounds) }
        let sections = Dictionary(uniqueKeysWithValues: DeltaSection.allCases.map { ($0, reader.bytes(name($0))) })
        return withExtendedLifetime(reader) { view.index.with(deltaSections: sections) }
            .map { view.ahead($0, bounds: bounds) }
    }
}
