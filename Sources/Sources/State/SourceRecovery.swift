// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// The reading of a state directory's sources at a start.
///
/// Each source is in the registry from the beginning, and is `isLoading` until its files have been read. A disk that does not
/// answer delays only the sources on it. Safe from any thread.
public final class SourceRecovery: Sendable {
    private struct State {
        /// Sources that answer nothing yet.
        var unread: Set<SourceName> = []
        /// How many sources' files have not been read, not even their overviews. Until there is none, or `serve` is called, the
        /// last change of all sources is not known, by which the clock is checked before features expire.
        var unopened = 0
        /// What waits for that.
        var waiting: [@Sendable () -> Void] = []
        /// What is left to be done once the daemon serves.
        var rest: [@Sendable () -> Void] = []
        var isServing = false
        var whenRead: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let registry: SourceRegistry
    private let directory: StateDirectory?
    /// Sources that are read completely before they answer.
    private let complete: Set<SourceName>
    private let threads = DiskThreads(width: AvailableProcessors.count)
    private let start = ContinuousClock.now

    private var shared: SharedState { registry.shared }

    /// Begins to read.
    init(
        _ sources: [Source], completely complete: Set<SourceName>, of registry: SourceRegistry,
        in directory: StateDirectory?
    ) {
        (self.registry, self.directory, self.complete) = (registry, directory, complete)
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

    /// Calls are answered from now on. Reads the rest of the sources that answer from their overviews.
    public func serve() {
        let (waiting, rest) = state.withLock { state in
            state.isServing = true
            defer { (state.waiting, state.rest) = ([], []) }
            return (state.waiting, state.rest)
        }
        for job in waiting { threads.add(job) }
        for job in rest { shared.reading.add(job) }
    }

    /// Waits until every source answers. Blocks.
    package func wait() { threads.wait() }

    /// Reads one source, or only its overview. May take as long as its disk does not answer.
    private func read(_ unread: Source, in directory: StateDirectory) {
        let name = unread.name
        shared.beforeReading.withLock { $0 }?(name)
        if !complete.contains(name), let early = Source.early(name, in: directory, shared: shared) {
            shared.clock.note(early.updatedAt)
            _ = registry.takeUp(ReadSource(early), insteadOf: unread)
            answers(name) { self.registry.finish(early, in: directory, since: .now) }
            return opened()
        }
        let found = registry.whole(unread, in: directory)
        // Features that expired while the daemon was stopped must not be visible, and the clock must be right for that.
        if let found, found.source.revision.options.ttlSeconds != nil {
            return opened { self.takeUp(found, insteadOf: unread) }
        }
        takeUp(found, insteadOf: unread)
        opened()
    }

    private func takeUp(_ found: ReadSource?, insteadOf unread: Source) {
        registry.takeUp(found, insteadOf: unread, isLate: state.withLock { $0.isServing }, since: start)
        answers(unread.name)
    }

    /// A source answers.
    ///
    /// - Parameter rest: what is left to be read.
    private func answers(_ name: SourceName, _ rest: (@Sendable () -> Void)? = nil) {
        let (callback, isServing) = state.withLock { state in
            state.unread.remove(name)
            if !state.isServing, let rest { state.rest.append(rest) }
            guard state.unread.isEmpty else { return (nil as (@Sendable () -> Void)?, state.isServing) }
            defer { state.whenRead = nil }
            return (state.whenRead, state.isServing)
        }
        if isServing, let rest { shared.reading.add(rest) }
        callback?()
    }

    /// A source's files have been read.
    ///
    /// - Parameter then: what is to be done when those of all sources have been, or the daemon serves.
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
