// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import ImageStore
import SystemSupport

/// The result of reading a source's files: the snapshot, the changes since then, and the plan for the files.
package struct RecoveredSource {
    package let plan: RecoveryPlan
    package let snapshot: Snapshot
    package let changes: [JournalRecord.Entry]
    /// The first of `changes` that follows a missing one: from it on a change may be one that cannot be made.
    package let firstGap: Int
    /// The clusters of the first changes; nil if they have to be made again.
    let checkpoint: Checkpoint?
    /// The greatest number of a revision in the files.
    package let newestRevision: UInt64
    /// The journal that later changes are appended to.
    private let last: FoundJournal?
    private let directory: String

    /// Whether replaying `changes` clusters the source as a whole, which a new snapshot spares the next start.
    package var hasOptions: Bool {
        changes.contains { if case .options = $0.record { true } else { false } }
    }

    /// Reads a source's directory: the newest intact snapshot with all journals that follow it. Changes nothing.
    ///
    /// - Parameter checking: whether to verify all of a snapshot before using it.
    package static func read(
        _ directory: String, shared: SharedState, checking: Bool
    ) throws(StateFault) -> RecoveredSource {
        let files = try FoundFiles(directory)
        let uncommitted = try files.uncommitted()
        var (notes, damaged): ([String], [String]) = ([], [])
        for generation in files.snapshots where !uncommitted.contains(generation) {
            do throws(StateFault) {
                let snapshot = try Self.snapshot(generation, directory, shared, checking: checking)
                let chain = try JournalChain(from: generation, files, uncommitted: uncommitted)
                // An empty snapshot does not count as older data: an empty answer would be wrong.
                guard !chain.isLossy || snapshot.revision.hasData || !chain.changes.isEmpty else {
                    notes += chain.notes.filter { !notes.contains($0) }
                    continue
                }
                var plan = RecoveryPlan(generation: generation, newest: files.newest)
                plan.previous = files.snapshots.first { $0 < generation && !uncommitted.contains($0) }
                plan.journals = chain.generations
                let found = notes + snapshot.mended
                plan.notes = found + chain.notes.filter { !found.contains($0) }
                plan.isLossy = chain.isLossy
                plan.isComplete = !chain.isLossy && chain.isContinuable
                plan.hasGap = chain.firstGap.map { $0 < chain.changes.count } ?? false
                plan.isPatched = !damaged.isEmpty || !snapshot.mended.isEmpty
                plan.steps = steps(files, uncommitted, damaged, chain, from: generation)
                return RecoveredSource(
                    plan: plan, snapshot: snapshot, changes: chain.changes,
                    firstGap: chain.firstGap ?? chain.changes.count,
                    checkpoint: checking
                        ? nil
                        : Checkpoint(
                            SourceFiles.path(generation, .checkpoint, in: directory), generation: generation),
                    newestRevision: max(snapshot.description.revision, files.newestRevision),
                    last: chain.last, directory: directory)
            } catch {
                guard error.kind == .damage else { throw error }
                damaged.append(files.name(generation, .snapshot))
                if !notes.contains(error.message) { notes.append(error.message) }
            }
        }
        throw StateFault(notes.isEmpty ? "\(directory) has no snapshot" : notes.joined(separator: "; "))
    }

    private static func snapshot(
        _ generation: UInt64, _ directory: String, _ shared: SharedState, checking: Bool
    ) throws(StateFault) -> Snapshot {
        let path = SourceFiles.path(generation, .snapshot, in: directory)
        let snapshot = try Snapshot(path, shared: shared, checking: checking)
        guard snapshot.generation == generation else {
            throw StateFault("\(path) is the snapshot of generation \(snapshot.generation)")
        }
        return snapshot
    }

    private static func steps(
        _ files: FoundFiles, _ uncommitted: Set<UInt64>, _ damaged: [String], _ chain: JournalChain,
        from generation: UInt64
    ) -> [RecoveryPlan.Step] {
        var steps = files.temporaries.map { RecoveryPlan.Step.remove($0) }
        // The snapshot is removed first, since a journal without a snapshot is ignored.
        for generation in uncommitted.sorted() {
            if files.snapshots.contains(generation) {
                steps.append(.remove(files.name(generation, .snapshot)))
            }
            steps.append(.remove(files.name(generation, .journal)))
        }
        var aside = Set(damaged)
        aside.formUnion(chain.damaged.map { files.name($0, .journal) })
        if chain.isLossy {
            // The daemon cannot use what came after, but a salvage can.
            aside.formUnion(
                files.journals.filter { $0 > generation && !uncommitted.contains($0) }
                    .map { files.name($0, .journal) })
        }
        return steps + aside.sorted().map { .setAside($0) }
    }

    /// Carries out the plan. Returns the contents with the journal to which later changes are appended.
    package func apply(_ state: StateDirectory, _ name: SourceName) -> SourceFiles.Contents {
        for step in plan.steps {
            switch step {
            case .remove(let file): FileIO.remove("\(directory)/\(file)")
            case .setAside(let file): state.setAside(file, of: name)
            }
        }
        return SourceFiles.Contents(
            generation: plan.generation, previous: plan.previous, journal: nil,
            unopened: plan.isComplete ? last : nil,
            newest: plan.newest, loss: snapshot.description.loss,
            lineages: snapshot.revision.lineages, reached: reached)
    }

    /// How far the journals go.
    private var reached: JournalPosition {
        var reached = JournalPosition()
        for change in changes where !change.record.isProgress {
            reached.add(change.revision, at: change.moment)
        }
        return reached
    }
}

/// What a start does with the files of a source, decided by reading before any file is changed.
package struct RecoveryPlan: Sendable, Equatable {
    package enum Step: Sendable, Equatable {
        /// Remove a file that no answered call depends on.
        case remove(String)
        /// Move a damaged file to `damaged/`, where only the operator deletes it.
        case setAside(String)
    }

    /// The generation of the snapshot to serve.
    package var generation: UInt64
    /// The generation of the previous snapshot.
    package var previous: UInt64?
    /// The generations of the journals to replay, in this order.
    package var journals: [UInt64] = []
    /// The highest generation of any file. The next generation is above it.
    package var newest: UInt64
    /// The steps, in this order.
    package var steps: [Step] = []
    /// Findings for the log.
    package var notes: [String] = []
    /// Whether changes go on in the last of `journals`; if not, the data need a new snapshot.
    package var isComplete = true
    /// Whether acknowledged changes are missing.
    package var isLossy = false
    /// Whether changes are made that follow missing ones.
    package var hasGap = false
    /// Whether a new snapshot is to be written: a newer one is damaged, or this one in sections that are made again.
    package var isPatched = false

    /// Why these are not the newest data; nil if they are.
    package var loss: String? { isLossy ? notes.joined(separator: "; ") : nil }
}
