// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// The reading of a state directory's sources at a start.
///
/// Each source is in the registry from the beginning, and is `isLoading` until its files have been read. A disk that
/// does not answer delays only the sources on it. Safe from any thread.
public final class SourceRecovery: Sendable {
    private struct State {
        /// Sources that answer nothing yet.
        var unread: Set<SourceName> = []
        /// Sources not opened yet. Until 0, or until `serve` is called, the newest change time, by which the clock is
        /// checked before features expire, is unknown.
        var unopened = 0
        /// What waits for that.
        var waiting: [@Sendable () -> Void] = []
        var isServing = false
        var whenRead: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let registry: SourceRegistry
    private let directory: StateDirectory?
    private let threads = DiskThreads(width: AvailableProcessors.count)
    private let start = ContinuousClock.now

    private var shared: SharedState { registry.shared }

    /// Begins to read.
    init(_ sources: [Source], of registry: SourceRegistry, in directory: StateDirectory?) {
        (self.registry, self.directory) = (registry, directory)
        var state = State()
        state.unread = Set(sources.map(\.name))
        state.unopened = sources.count
        self.state = Mutex(state)
        guard let directory else { return }
        for source in sources { threads.add { self.read(source, in: directory) } }
    }

    /// The sources that answer nothing yet, by name.
    public var unread: [SourceName] { state.withLock { $0.unread }.sorted() }

    /// Calls back once every source answers: at once if that is so. The thread is any.
    public func whenRead(_ callback: @escaping @Sendable () -> Void) {
        let isRead = state.withLock { state in
            if !state.unread.isEmpty { state.whenRead = callback }
            return state.unread.isEmpty
        }
        if isRead { callback() }
    }

    /// Calls are answered from now on.
    public func serve() {
        let waiting = state.withLock { state in
            state.isServing = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for job in waiting { threads.add(job) }
    }

    /// Waits until every source answers. Blocks.
    package func wait() { threads.wait() }

    /// Opens one source. May take as long as its disk does not answer.
    private func read(_ unread: Source, in directory: StateDirectory) {
        shared.beforeReading.withLock { $0 }?(unread.name)
        let found = registry.open(unread, in: directory)
        // Features that expired while the daemon was stopped must not be visible, and the clock must be right for that.
        if let found, found.source.revision.options.ttlSeconds != nil {
            return opened { self.serve(unread, found) }
        }
        serve(unread, found)
        opened()
    }

    private func serve(_ unread: Source, _ found: Source.Opened?) {
        registry.serve(unread, found, isLate: state.withLock { $0.isServing }, since: start)
        answers(unread.name)
    }

    /// A source answers.
    private func answers(_ name: SourceName) {
        let callback = state.withLock { state -> (@Sendable () -> Void)? in
            state.unread.remove(name)
            guard state.unread.isEmpty else { return nil }
            defer { state.whenRead = nil }
            return state.whenRead
        }
        callback?()
    }

    /// A source's files have been read.
    ///
    /// - Parameter then: Runs once all sources are open, or once the daemon serves.
    private func opened(_ then: (@Sendable () -> Void)? = nil) {
        let due = state.withLock { state -> [@Sendable () -> Void] in
            state.unopened -= 1
            if let then { state.waiting.append(then) }
            guard state.unopened == 0 || state.isServing else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for job in due { threads.add(job) }
    }
}
