// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import ImageStore
import SystemSupport

/// Compaction: merges the delta into a new base while queries and updates continue.
///
/// A growing delta makes updates slower, since it is copied and searched. So from time to time the features
/// are clustered from scratch in the background, and what changed meanwhile is applied to the result. The
/// features are the same, but clusters get the ids of a fresh load, so it is a new revision.
///
/// Of many features only the clusters are made again, if possible: the changed features stay beside the others until a
/// snapshot gathers them.
extension Source {
    package func compactIfGrown(_ revision: Revision) {
        let most = max(revision.mostGrowth, compactionFloor)
        guard revision.growth > (jobs.isRunning(.save, .checkpoint) ? 2 * most : most) else { return }
        jobs.run(.compact) { [self] in
            if let base = beginCompaction() { compact(base) }
        } then: { [self] in
            saveIfWorthwhile()
            checkpointIfWorthwhile()
        }
    }

    /// Compacts immediately; for tests.
    ///
    /// - Parameter meanwhile: called before each round with its number.
    /// - Returns: the most rows that were applied while updates had to wait.
    @discardableResult
    package func compact(meanwhile: (Int) -> Void = { _ in }) -> Int {
        beginCompaction().map { compact($0, meanwhile: meanwhile).mostWhileLocked } ?? 0
    }

    /// Most rows clustered while holding the change lock, besides the last update's.
    package static let rowsWhileLocked = 32
    /// The most rounds without progress before updates wait for more rows than that.
    private static let vainRounds = 4

    /// Compacts the revision with which a compaction began.
    ///
    /// - Parameter isForSnapshot: whether nothing but the clusters may be made again: else the snapshot makes all.
    /// - Returns: the base with its clusters made again and its changed features left beside the others, nil if that was
    ///   not possible; and the most rows that were applied while updates had to wait.
    @discardableResult
    func compact(
        _ base: Revision, isForSnapshot: Bool = false, meanwhile: (Int) -> Void = { _ in }
    ) -> (clusteredAlone: Revision?, mostWhileLocked: Int) {
        let cancellation = Cancellation { [self] in !isCompacting(base) }
        var mostWhileLocked = 0
        var clusteredAlone: Revision?
        do throws(SourceError) {
            var catchUp = try atLowPriority { [self] () throws(SourceError) in
                try cluster(base, isForSnapshot, cancellation)
            }
            guard !base.isDamaged else { throw reportDamage() }
            if catchUp.areClustersAlone { clusteredAlone = catchUp.revision }
            var (round, vain, former, isDone) = (0, 0, Int.max, false)
            while !isDone {
                meanwhile(round)
                round += 1
                let latest = try gather(&catchUp)
                let pending = catchUp.pendingCount
                if pending > former / 4 * 3 { vain += 1 }
                former = pending
                if pending <= catchUp.fewRows(beside: latest) || vain > Self.vainRounds {
                    let doublings = max(0, vain - Self.vainRounds)
                    isDone = try withChangeLock(cancellation) { () throws(SourceError) in
                        try finish(&catchUp, latest, doublings, &mostWhileLocked, cancellation)
                    }
                }
                if !isDone { catchUp = try follow(catchUp, isUrgent: vain > 0, cancellation) }
            }
        } catch {
            // The delta still works. The next attempt follows when it has doubled.
            giveUpCompaction(of: base, until: 2 * base.growth)
        }
        return (clusteredAlone, mostWhileLocked)
    }

    /// Applies the recorded changes while updates continue.
    ///
    /// - Parameter isUrgent: whether updates arrive about as fast as they are applied at low priority.
    private func follow(
        _ former: CatchUp, isUrgent: Bool, _ cancellation: Cancellation
    ) throws(SourceError) -> CatchUp {
        let threads = isUrgent ? compactionThreads : 1
        let work: @Sendable () throws(SourceError) -> CatchUp = { () throws(SourceError) in
            var catchUp = former
            try catchUp.follow(atMost: catchUp.pendingCount, threads: threads, cancellation)
            return catchUp
        }
        return isUrgent ? try work() : try atLowPriority(work)
    }

    /// Runs work at low priority. Work with the source's lock held runs at normal priority, since updates wait for it.
    func atLowPriority<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SourceError) -> Value
    ) throws(SourceError) -> Value {
        try BackgroundThread.atLowPriority { Result(catching: body) }.get()
    }

    /// Half of the threads are left for calls.
    private var compactionThreads: Int { max(1, shared.limits.buildThreads / 2) }

    /// Clusters the features of a revision from scratch.
    private func cluster(
        _ base: Revision, _ isForSnapshot: Bool, _ cancellation: Cancellation
    ) throws(SourceError) -> CatchUp {
        let maker = RevisionMaker(
            options: base.options, shared: shared, owner: owner, threads: compactionThreads, cancellation: cancellation)
        if base.canMakeClustersAlone, let made = try maker.makeClusteredAgain(base) {
            if shared.memory.hasRoom(for: made.view.index.bytesOfPreparation) { made.view.index.prepareForUpdates() }
            return CatchUp(from: base, to: made, areClustersAlone: true)
        }
        // If memory is short, the snapshot's index is read from its file.
        guard !isForSnapshot else { throw .cancelled }
        let whole = try maker.make(base.store.plain(spill: spill))
        // Built ahead of time, so that no update waits for it.
        _ = try whole.identifierIndex(cancellation)
        try whole.store.checkWritten()
        return CatchUp(from: base, to: whole)
    }

    /// Applies the remaining changes with the source's lock held, unless updates would have to wait for too
    /// many of them. Then it does nothing, since they would wait in vain.
    ///
    /// - Parameters:
    ///   - former: the rows of the largest update before.
    ///   - doublings: how often to double the number of rows for which updates may wait. So the
    ///   compaction ends although updates arrive faster than they are applied.
    /// - Returns: whether all were applied, so that the compacted revision is published.
    private func finish(
        _ catchUp: inout CatchUp, _ former: Int, _ doublings: Int, _ mostWhileLocked: inout Int,
        _ cancellation: Cancellation
    ) throws(SourceError) -> Bool {
        let largest = try gather(&catchUp)
        let count = catchUp.pendingCount
        guard count <= (catchUp.fewRows(beside: former) + largest) << min(doublings, 28) else { return false }
        // Updates wait, so all threads are free for it.
        try catchUp.follow(atMost: count, threads: shared.limits.buildThreads, cancellation)
        mostWhileLocked = max(mostWhileLocked, count)
        let maker = RevisionMaker(
            options: catchUp.revision.options, shared: shared, owner: owner, cancellation: cancellation)
        let made = try maker.completing(catchUp.revision)
        try publish(made.number > revision.number ? made : made.renumbered(), at: nil)
        // Its index is read from a snapshot then.
        if made.isShortOfMemory { saveLater() }
        // The delta that arrived during the compaction. Under constant load, compaction then takes at most
        // half of the time.
        compactionFloor = 2 * made.growth
        return true
    }

    /// Records what changed since the last call.
    ///
    /// - Returns: the number of rows that the largest of these updates changed.
    private func gather(_ catchUp: inout CatchUp) throws(SourceError) -> Int {
        guard let (newest, updates) = takeUpdates(since: catchUp.start) else { throw .cancelled }
        for rows in updates { catchUp.note(rows, upTo: newest) }
        return updates.lazy.map(\.count).max() ?? 0
    }
}

extension Source {
    /// Begins a compaction and records updates from now on. Returns the revision to compact; nil if a compaction
    /// is running or there is no delta.
    package func beginCompaction() -> Revision? {
        state.withLock { state in
            guard state.isServing, state.compaction.base == nil, !state.revision.isPlain else { return nil }
            (state.compaction.base, state.compaction.updates) = (state.revision, [])
            return state.revision
        }
    }

    /// Whether the compaction of a revision is still useful: the data have not been replaced. Never again if not.
    private func isCompacting(_ base: Revision) -> Bool {
        state.withLock { $0.isServing && $0.compaction.base === base }
    }

    /// The current revision, and the updates since the last call; nil if the data have been replaced.
    private func takeUpdates(since base: Revision) -> (Revision, [[Int]])? {
        state.withLock { state in
            guard state.isServing, state.compaction.base === base else { return nil }
            defer { state.compaction.updates = [] }
            return (state.revision, state.compaction.updates)
        }
    }

    /// The size of the delta at which the next compaction begins, if that is more than usual.
    package var compactionFloor: Int {
        get { state.withLock { $0.compaction.floor } }
        set { state.withLock { $0.compaction.floor = newValue } }
    }

    /// Ends a failed compaction, which is retried when the delta reaches `floor`. If the data have been replaced,
    /// there is nothing to retry.
    private func giveUpCompaction(of base: Revision, until floor: Int) {
        state.withLock { state in
            if state.compaction.base === base { state.compaction = Compaction(floor: floor) }
        }
    }
}

extension Revision {
    /// The size of the delta in nodes and features; in nodes if only the clusters are made again.
    var growth: Int { canMakeClustersAlone ? indexGrowth : indexGrowth + store.changeCount }

    /// The size of the delta at which it is compacted.
    var mostGrowth: Int {
        canMakeClustersAlone
            ? 2 * pointCount : min(shared.limits.changesKept, max(8192, pointCount / 8))
    }

    /// Whether a compaction makes the clusters again and leaves the features as they are: then it takes so little that
    /// the delta may become large before.
    var canMakeClustersAlone: Bool {
        pointCount >= shared.limits.leastClusteredAlone && store.changeCount < pointCount && views.isEmpty
            && options.partitionBy == nil && options.indexedProperties.isEmpty && view.order == nil
            && view.index.canBeRebuilt(with: PointChanges())
    }

    /// The size of the delta in nodes.
    var indexGrowth: Int { ([self] + views).reduce(0) { max($0, $1.view.index.deltaSize) } }
}
