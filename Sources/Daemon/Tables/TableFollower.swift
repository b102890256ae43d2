// SPDX-License-Identifier: MIT
import Calls
import EventLoop
import GeoJSON
import JSON
import PostgresFeed
import Sources
import SystemSupport

/// Keeps a source like its table: what a feed reads becomes imports and changes, in the order of the log. Belongs to the
/// loop's thread; sources are changed on the pool, by one job at a time.
final class TableFollower {
    let declared: DeclaredSource
    let settings: PostgresSettings
    let options: SourceOptions
    let source: Source
    let loop: EventLoop
    let log: Log
    let threads: Int
    /// What positions of this table and these settings have in common.
    let origin: String
    var feed: TableFeed?
    var status: ReplicationStatus
    /// The copy under way.
    var copy: TableCopy?
    /// How many pieces of copies are being read on the pool.
    var piecesInWork = 0
    var copyBegan: UInt64 = 0
    var steps: [TableStep] = []
    var isWorking = false
    let ending = FillingEnd()
    var whenEnded: (() -> Void)?
    var isDisconnected = false
    var refreshing: Timer?
    /// Runs while failed work waits for its next attempt.
    var retrying: Timer?
    var attempts = 0
    /// Whether the note says that work is tried again.
    var isRetried = false
    /// Runs while a position that only moved on waits to be kept.
    var keeping: Timer?
    var latest: FeedPosition?

    /// How often the lag is brought up to date, in milliseconds.
    static let refreshInterval: UInt64 = 250
    /// After how long a position that only moved on is kept, in milliseconds.
    static let keepingDelay: UInt64 = 10_000
    /// The most changes that become visible together, unless one transaction has more.
    static let mostChanges = 20_000

    init(
        _ declared: DeclaredSource, _ settings: PostgresSettings, of source: Source, loop: EventLoop,
        log: Log,
        threads: Int
    ) {
        self.declared = declared
        self.settings = settings
        self.source = source
        self.loop = loop
        self.log = log
        self.threads = threads
        options = (try? SourceOptions(reading: declared.options)) ?? SourceOptions()
        origin = settings.origin(options: options)
        status = ReplicationStatus(table: "the table \(settings.table)", state: .waiting)
        source.replication = status
    }

    /// Begins to follow, where the source's data end.
    ///
    /// - Parameter stateDirectory: nil if sources are kept nowhere.
    func start(stateDirectory: String?) {
        let feed = TableFeed(
            on: loop, settings.feed(of: source.name.text, stateDirectory: stateDirectory), consumer: self)
        self.feed = feed
        refreshing = Timer(on: loop, delay: Self.refreshInterval, every: Self.refreshInterval) {
            [weak self] in
            self?.refresh()
        }
        refreshing?.unreference()
        changeOptions { [weak self] in
            guard let self, !self.ending.isEnding else { return }
            let known = self.source.revision.log
            feed.start(
                from: known?.origin == self.origin ? known.flatMap { FeedPosition($0.mark.text) } : nil)
        }
    }

    /// Gives the source the options that are declared; what they leave out comes back with the next copy.
    func changeOptions(_ then: @escaping () -> Void) {
        let (source, options, cancellation) = (source, options, ending.cancellation)
        guard options.json != source.revision.options.json else { return then() }
        perform { () throws(TableJob.Failure) in
            _ = try TableJob.converted { () throws(SourceError) in
                try source.update(options: options, cancellation)
            }
        } then: { [self] _ in
            attempts = 0
            then()
        } orElse: { [weak self] failure in
            self?.retry(failure) { self?.changeOptions(then) }
        }
    }

    /// Stops following. The data stay, and so does the slot.
    func stop(_ then: @escaping () -> Void) {
        ending.begin()
        (refreshing, retrying, keeping) = (nil, nil, nil)
        steps = []
        copy?.cancel()
        copy = nil
        let feed = feed
        self.feed = nil
        whenEnded = then
        guard let feed else {
            isDisconnected = true
            return endWhenIdle()
        }
        feed.stop { [self] in
            withExtendedLifetime(feed) {}
            isDisconnected = true
            endWhenIdle()
        }
    }

    func endWhenIdle() {
        guard isDisconnected, !isWorking, piecesInWork == 0 else { return }
        source.replication = nil
        let then = whenEnded
        whenEnded = nil
        then?()
    }

    /// The slot's name, for messages.
    var slot: String { feed?.configuration.slotName ?? "" }

    // MARK: Work on the pool

    /// Runs `body` on the pool and goes on with the next step after it.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TableJob.Failure) -> Value, then: @escaping (Value) -> Void,
        orElse: @escaping (TableJob.Failure) -> Void
    ) {
        isWorking = true
        let outcome = Outcome<Value>()
        loop.work {
            outcome.result = Result { () throws(TableJob.Failure) in try body() }
        } completion: { [self] in
            isWorking = false
            guard !ending.isEnding else { return endWhenIdle() }
            switch outcome.result {
            case .success(let value)?:
                if isRetried { endRetrying() }
                then(value)
            case .failure(let failure)?: orElse(failure)
            case nil: break
            }
            advance()
        }
    }

    /// What a job on the pool found out. Written there, read on the loop after libuv's hand-over, which orders the two;
    /// that is why it may be shared.
    final class Outcome<Value>: @unchecked Sendable {
        var result: Result<Value, TableJob.Failure>?
    }
}
