// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import GeoJSON
import Glibc
import ImageStore
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
        add(unread)
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

    /// Opens the files of a source of which only the name is known.
    ///
    /// - Returns: nil if there is nothing: the call that created it was never answered.
    func open(_ unread: Source, in directory: StateDirectory) -> Source.Opened? {
        do throws(SourceError) {
            let opened = try Source.open(unread.name, in: directory, shared: shared)
            if let source = opened?.source, source.fault == nil { shared.clock.note(source.updatedAt) }
            return opened
        } catch {
            // The files may be good.
            _ = unread.fail(StateFault(FileError.unusable("\(unread.name.text) can't be read: \(error.description)")))
            return Source.Opened(source: unread, wantsSnapshot: false)
        }
    }

    /// Lets a source that has been opened serve.
    ///
    /// - Parameters:
    ///   - opened: nil if there is none.
    ///   - isLate: whether calls are already served.
    ///   - start: when the reading began.
    func serve(_ unread: Source, _ opened: Source.Opened?, isLate: Bool, since start: ContinuousClock.Instant) {
        defer { shared.readingCount.subtract(1, ordering: .releasing) }
        guard let opened else { return drop(unread) }
        // Features that expired meanwhile must not be visible.
        if opened.source.mayExpire(at: .now) { expire(opened.source, .now) }
        if opened.source === unread { return unread.observers.notify() }
        guard unread.adopt(opened.source) else { return }
        unread.maintain(opened)
        // A fault has been reported.
        guard isLate, unread.fault == nil else { return }
        let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
        unread.report(.information, "its data are read, in \(milliseconds) ms")
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
        guard mayRetry() else { return }
        shared.lastRetry.withLock { $0 = .now }
        // Reading takes as long as the disk hangs.
        for source in all where source.fault?.kind == .machine { source.reopenLater() }
    }
}
