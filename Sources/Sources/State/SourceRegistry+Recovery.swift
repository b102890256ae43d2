// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import GeoJSON
import Glibc
import SourceStorage
import Synchronization
import SystemSupport

extension SourceRegistry {
    /// Recovers all sources of the state directory. Must be called before the first call is served.
    ///
    /// Blocks while it verifies the indexes' checksums and replays the journals, on all
    /// cores. Of sources with an overview it only reads that; the rest is read afterwards in the background. So
    /// is the features' text, which is only verified.
    ///
    /// - Parameter complete: sources that are read completely in any case.
    public func recover(completely complete: Set<SourceName> = []) throws(SourceError) {
        guard let directory = shared.directory else { return }
        try raiseRevision(directory)
        let (names, others) = try directory.names()
        for concern in directory.concerns { warn(concern) }
        for name in others where !name.hasPrefix(".") {
            warn("\(directory.path)/sources/\(name) is not a source's name; it is left alone")
        }
        let early = Self.overviews(of: names.filter { !complete.contains($0) }, in: directory, shared)
        let known = Set(early.map(\.name))
        let sources = try open(names.filter { !known.contains($0) }, in: directory) + early
        if let last = sources.filter({ $0.fault == nil }).map(\.updatedAt).max() { shared.clock.note(last) }
        takeUp(sources)
        for source in sources { source.saveOverviewLater() }
        directory.removeLeftovers()
        shared.readingCount.add(early.count, ordering: .relaxed)
        for source in early { shared.reading.async { [self] in readRest(of: source, in: directory) } }
    }

    /// Whether some sources are still being read after a start.
    public var isLoading: Bool { shared.readingCount.load(ordering: .acquiring) > 0 }

    /// Sources that answer from their overviews.
    private static func overviews(
        of names: [SourceName], in directory: StateDirectory, _ shared: SharedState
    ) -> [Source] {
        BoundedConcurrency.map(below: names.count, threads: AvailableProcessors.count) { place in
            Source.early(names[place], in: directory, shared: shared)
        }.compactMap(\.self)
    }

    /// Reads a source of which only the overview is known, as a start reads others, and lets the result take its place.
    private func readRest(of source: Source, in directory: StateDirectory) {
        let start = ContinuousClock.now
        defer { shared.readingCount.subtract(1, ordering: .releasing) }
        let found: Source
        do throws(SourceError) {
            guard let opened = try open([source.name], in: directory).first else {
                throw .defect("its directory is gone")
            }
            found = opened
        } catch {
            return source.endLoading(StateFault("\(source.name.text) can't be read: \(error.description)"))
        }
        if let overview = source.overview { found.continueRevision(of: overview) }
        found.saveOverviewLater()
        // Features that expired meanwhile must not be visible.
        if found.mayExpire(at: .now) { expire(found, .now) }
        guard takeUp(found, insteadOf: source) else { return found.retire() }
        source.retire()
        // A fault has been reported.
        guard found.fault == nil else { return }
        let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
        shared.report(
            StateEvent(
                gravity: .information, source: source.name.text,
                message: "the rest of its data is read, in \(milliseconds) ms"))
    }

    /// The source of this name with all its data: waits while they are being read after a start. Blocks: only for threads of
    /// the pool.
    public func wholeSource(_ name: SourceName, _ cancellation: Cancellation) throws(SourceError) -> Source {
        while true {
            let source = try source(name)
            guard source.isLoading else { return source }
            let news = DispatchSemaphore(value: 0)
            let observation = source.observe { news.signal() }
            if source.isLoading { _ = news.wait(timeout: .now() + .milliseconds(50)) }
            withExtendedLifetime(observation) {}
            try cancellation.stopIfCancelled()
        }
    }

    /// Revision numbers continue above those of deleted sources.
    private func raiseRevision(_ directory: StateDirectory) throws(SourceError) {
        do throws(StateFault) {
            shared.raiseRevision(to: try directory.lastRevision)
        } catch {
            guard error.kind == .damage else { throw .stateNotWritable(error.message) }
            warn(error.message)
        }
    }

    private func open(
        _ names: [SourceName], in directory: StateDirectory
    ) throws(SourceError) -> [Source] {
        let opened = Mutex<[(source: Source, recovered: RecoveredSource?)]>([])
        let failure = Mutex<SourceError?>(nil)
        BoundedConcurrency.forEach(below: names.count, threads: AvailableProcessors.count) { place in
            do throws(SourceError) {
                guard let result = try Source.open(names[place], in: directory, shared: shared) else {
                    return
                }
                opened.withLock { $0.append(result) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let all = opened.withLock { $0 }
        BoundedConcurrency.forEach(below: all.count, threads: AvailableProcessors.count) { place in
            let (source, recovered) = all[place]
            if let recovered { shared.memory.whileRecovering { source.replay(recovered) } }
            source.verifyLater()
        }
        return all.map(\.source)
    }

    private func warn(_ message: String) {
        shared.report(StateEvent(gravity: .warning, source: nil, message: message))
    }

    /// Whether a source is unavailable after a fault of the machine, and it is time to retry.
    func mayRetry(at now: ContinuousClock.Instant = .now) -> Bool {
        guard shared.directory != nil, all.contains(where: { $0.fault?.kind == .machine }) else {
            return false
        }
        return shared.lastRetry.withLock { last in last.map { now - $0 >= .seconds(5) } ?? true }
    }

    /// Retries in the background to read sources that the machine could not read.
    func retryUnavailable() {
        guard let directory = shared.directory, mayRetry() else { return }
        shared.lastRetry.withLock { $0 = .now }
        for source in all where source.beginRetrying() {
            // Reading takes as long as the disk hangs.
            source.background.async { [self] in
                defer { source.endRetrying() }
                retry(source, directory)
            }
        }
    }

    private func retry(_ source: Source, _ directory: StateDirectory) {
        guard let found = try? open([source.name], in: directory).first, found.fault == nil else { return }
        guard takeUp(found, insteadOf: source) else { return }
        shared.report(
            StateEvent(
                gravity: .information, source: source.name.text, message: "its files can be read again"))
        source.observers.tell()
    }
}

extension Source {
    /// Verifies the features' text in the background.
    fileprivate func verifyLater() {
        let store = revision.store
        shared.checks.async { [weak self] in
            guard let self, !self.isRetired else { return }
            let isGood = store.verifyText(
                isCancelled: { self.isRetired }, pause: { usleep(5000) })
            if !isGood, self.revision.store === store { _ = self.reportDamage() }
        }
    }
}
