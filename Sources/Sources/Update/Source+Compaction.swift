// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// Working changes into a whole, beside queries and further updates.
///
/// Copying and searching the changes makes updates slower as they grow; so now and then the features are
/// clustered as a whole, off to the side, and what changed meanwhile is taken over. The features are the
/// same, but clusters get the ids of a fresh load; so it is a new revision.
extension Source {
    package func compactIfGrown(_ revision: Revision) {
        let growth = revision.growth
        let most = min(shared.limits.changesKept, max(8192, revision.pointCount / 8))
        guard growth > max(most, compactionFloor) else { return }
        guard let base = beginCompaction() else { return }
        BackgroundThread.run { self.compact(base) }
    }

    /// Works changes in at once; for tests.
    ///
    /// - Parameter meanwhile: called before each round, with its number.
    /// - Returns: the most places that were taken over while updates had to wait.
    @discardableResult
    package func compact(meanwhile: (Int) -> Void = { _ in }) -> Int {
        beginCompaction().map { compact($0, meanwhile: meanwhile) } ?? 0
    }

    /// Places that may be taken over while updates wait, or as many as one of those updates changed.
    package static let placesInTurn = 32
    /// How often it is tried to come so near beside updates.
    private static let rounds = 6

    @discardableResult
    private func compact(_ base: Revision, meanwhile: (Int) -> Void = { _ in }) -> Int {
        let cancellation = Cancellation { [self] in !isCompacting }
        var mostWhileLocked = 0
        do throws(SourceError) {
            var catchUp = try atLowPriority { [self] () throws(SourceError) in
                try cluster(base, cancellation)
            }
            guard !base.store.isDamaged else { throw reportDamage() }
            var (round, largest, isDone) = (0, 0, false)
            while !isDone {
                meanwhile(round)
                round += 1
                largest = max(largest, try gather(&catchUp))
                if catchUp.pendingCount <= Self.placesInTurn || round > Self.rounds {
                    isDone = try inTurn(cancellation) { () throws(SourceError) in
                        try finish(&catchUp, &mostWhileLocked, cancellation)
                    }
                }
                guard !isDone else { break }
                if round <= Self.rounds {
                    let former = catchUp
                    catchUp = try atLowPriority { () throws(SourceError) in
                        var catchUp = former
                        try catchUp.follow(atMost: catchUp.pendingCount, threads: 1, cancellation)
                        return catchUp
                    }
                } else {
                    // Updates come as fast as they are taken over: from now on at the usual priority, and soon
                    // with the lock held again.
                    try catchUp.follow(atMost: max(1024, 2 * largest), threads: 1, cancellation)
                }
            }
        } catch {
            // The delta still answers. The next attempt is made once it has doubled.
            giveUpCompaction(until: 2 * base.growth)
        }
        return mostWhileLocked
    }

    /// Runs work in the background. Work with the source's lock held runs at the usual priority, since updates wait for it.
    private func atLowPriority<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SourceError) -> Value
    ) throws(SourceError) -> Value {
        try BackgroundThread.atLowPriority { Result(catching: body) }.get()
    }

    /// Clusters the features of a revision as a whole.
    private func cluster(_ base: Revision, _ cancellation: Cancellation) throws(SourceError) -> CatchUp {
        // Half of the threads are left to calls.
        let maker = RevisionMaker(
            options: base.options, shared: shared, owner: owner,
            threads: max(1, shared.limits.buildThreads / 2), cancellation: cancellation)
        let spill = DraftMaker(files, shared)?.spill
        let whole = try maker.make(base.store.plain(spill: spill), identifiers: base.gatheredIdentifiers)
        // Made ahead of time, so that no update waits for it.
        _ = try whole.identifierIndex(cancellation)
        try whole.store.checkWritten()
        return CatchUp(from: base, to: whole)
    }

    /// Takes over the rest, with the source's lock held, or as much of it as updates may be made to wait for.
    ///
    /// - Returns: whether that was all, and what was built answers now.
    private func finish(
        _ catchUp: inout CatchUp, _ mostWhileLocked: inout Int, _ cancellation: Cancellation
    ) throws(SourceError) -> Bool {
        let largest = try gather(&catchUp)
        let before = catchUp.pendingCount
        let most = max(Self.placesInTurn, largest)
        // If that is not all, updates are not made to wait that long for nothing.
        let share = before <= most ? most : max(Self.placesInTurn, most / 4)
        // Updates wait, so all threads are free for it.
        try catchUp.follow(atMost: share, threads: shared.limits.buildThreads, cancellation)
        mostWhileLocked = max(mostWhileLocked, before - catchUp.pendingCount)
        guard catchUp.pendingCount == 0 else { return false }
        let made = catchUp.revision
        try publish(made.number > revision.number ? made : made.renumbered(), at: nil)
        // So much came while the rest was worked in. With many updates at all times, that takes half of the time at most.
        compactionFloor = 2 * made.growth
        return true
    }

    /// Notes what changed since the last time.
    ///
    /// - Returns: how many places the largest of these updates changed.
    private func gather(_ catchUp: inout CatchUp) throws(SourceError) -> Int {
        guard let (newest, updates) = takeMeanwhile() else { throw .cancelled }
        for places in updates { catchUp.note(places, upTo: newest) }
        return updates.lazy.map(\.count).max() ?? 0
    }
}

extension Revision {
    /// How much lies beside what was built as a whole, in nodes and features.
    fileprivate var growth: Int { view.index.deltaSize + store.changeCount }
}
