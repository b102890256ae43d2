// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

extension SourceRegistry {
    /// Recovers all sources of the state directory. Must be called before the first call is served.
    ///
    /// Blocks while it verifies the indexes' checksums and replays the journals, on all
    /// cores. The features' text is verified afterwards in the background.
    public func recover() throws(SourceError) {
        guard let directory = shared.directory else { return }
        try raiseRevision(directory)
        let (names, others) = try directory.names()
        for concern in directory.concerns { warn(concern) }
        for name in others where !name.hasPrefix(".") {
            warn("\(directory.path)/sources/\(name) is not a source's name; it is left alone")
        }
        let sources = try open(names, in: directory)
        if let last = sources.filter({ $0.fault == nil }).map(\.updatedAt).max() { shared.clock.note(last) }
        takeUp(sources)
        directory.removeLeftovers()
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
        let revision = revision
        shared.checks.async { [weak self] in
            guard let self, !self.isRetired else { return }
            if !revision.store.verifyText(isCancelled: { self.isRetired }), self.revision === revision {
                _ = self.reportDamage()
            }
        }
    }
}
