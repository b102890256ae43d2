// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import GeoJSON
import Glibc
import SourceStorage
import Synchronization
import SystemSupport

extension SourceRegistry {
    /// Begins to recover all sources of the state directory. Must be called before the first call is served.
    ///
    /// Sources are opened on threads of their own, on all cores.
    public func beginRecovery() throws(SourceError) -> SourceRecovery {
        guard let directory = shared.directory else {
            return SourceRecovery([], of: self, in: nil)
        }
        try raiseRevision(directory)
        let (names, others) = try directory.names()
        for concern in directory.concerns { warn(concern) }
        for name in others where !name.hasPrefix(".") {
            warn("\(directory.path)/sources/\(name) is not a source's name; it is left alone")
        }
        directory.removeLeftovers()
        var unread: [Source] = []
        for name in names { unread.append(try Source.unread(name, shared: shared)) }
        takeUp(unread)
        shared.readingCount.add(unread.count, ordering: .relaxed)
        return SourceRecovery(unread, of: self, in: directory)
    }

    /// Recovers all sources. Blocks until all answer.
    public func recover() throws(SourceError) {
        let recovery = try beginRecovery()
        recovery.wait()
        recovery.serve()
    }

    /// Whether some sources are still being read after a start.
    public var isLoading: Bool { shared.readingCount.load(ordering: .acquiring) > 0 }

    /// Opens a source of which only the name is known.
    ///
    /// - Returns: nil if there is nothing: the call that created it was never answered.
    func whole(_ unread: Source, in directory: StateDirectory) -> Source? {
        do throws(SourceError) {
            let found = try open(unread.name, in: directory)
            if let source = found, source.fault == nil { shared.clock.note(source.updatedAt) }
            return found
        } catch {
            return Source.unreadable(unread, error, shared: shared)
        }
    }

    /// Lets a source that has been read take the place of one that is loading.
    ///
    /// - Parameters:
    ///   - found: nil if there is none.
    ///   - isLate: whether calls are already served.
    ///   - start: when the reading began.
    func takeUp(
        _ found: Source?, insteadOf unread: Source, isLate: Bool, since start: ContinuousClock.Instant
    ) {
        defer { shared.readingCount.subtract(1, ordering: .releasing) }
        guard let found else { return drop(unread) }
        // Features that expired meanwhile must not be visible.
        if found.mayExpire(at: .now) { expire(found, .now) }
        guard takeUp(found, insteadOf: unread) else { return found.retire() }
        // A fault has been reported.
        guard isLate, found.fault == nil else { return }
        let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
        shared.report(
            StateEvent(
                gravity: .information, source: found.name.text,
                message: "its data are read, in \(milliseconds) ms"))
    }

    /// The source of this name with all its data: waits while they are being read after a start. Blocks: only
    /// for threads of the pool.
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

    /// Reads a source's files and makes the changes in its journals; nil if there is no such source.
    private func open(
        _ name: SourceName, in directory: StateDirectory
    ) throws(SourceError) -> Source? {
        guard let (source, recovered) = try Source.open(name, in: directory, shared: shared) else {
            return nil
        }
        if let recovered { source.replay(recovered) }
        source.verifyLater()
        return source
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
        guard let found = try? open(source.name, in: directory), found.fault == nil else { return }
        guard takeUp(found, insteadOf: source) else { return }
        shared.report(
            StateEvent(
                gravity: .information, source: source.name.text, message: "its files can be read again"))
        source.observers.tell()
    }
}

extension Source {
    /// Verifies the snapshot in the background.
    fileprivate func verifyLater() {
        let store = revision.store
        // Otherwise the start has reported it.
        let isWhole = store.lacksIdentifiers == nil
        shared.checks.async { [weak self] in
            guard let self, !self.isRetired else { return }
            let isGood = store.verifyText(
                isCancelled: { self.isRetired }, demand: { self.demand.look() },
                pause: { usleep(5000) })
            if !isGood, self.revision.store === store { return _ = self.reportDamage() }
            if isWhole, let path = store.lacksIdentifiers { self.replaceIdentifiers(of: path) }
        }
    }
}
