// SPDX-License-Identifier: MIT
import RPC
import EventLoop
import GeoJSON
import JSON
import PostgresFeed
import SourceEngine

/// Keeps a source in step with its table: what a feed reads becomes imports and changes, in the order of the
/// log. Belongs to the loop's thread; sources are changed on the pool, by one job at a time.
final class TableFollower {
    let declared: DeclaredSource
    let settings: PostgresSettings
    let options: SourceOptions
    let source: Source
    let loop: EventLoop
    let log: Log
    let threads: Int
    /// Identifies positions that belong to this table and these settings.
    let origin: String
    var feed: TableFeed?
    var status: ReplicationStatus
    /// The copy in progress.
    var copy: TableCopy?
    /// The memory that the feed's connection holds for large messages.
    var messageClaim: MemoryClaim?
    /// The number of pieces of copies being read on the pool.
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
    /// The last reasons for not following that were logged since the table was last followed.
    var loggedReasons: [String] = []
    /// Whether the note says that work is being retried.
    var isRetried = false
    /// Runs while transactions gather, so that more of them are applied together.
    var gathering: Timer?
    /// Runs while a position that advanced without changes waits to be stored.
    var keeping: Timer?
    var latest: FeedPosition?

    /// The interval at which the lag is updated, in milliseconds.
    static let refreshInterval: UInt64 = 250
    /// The delay after which a position that advanced without changes is stored, in milliseconds.
    static let keepingDelay: UInt64 = 10_000
    /// Applying transactions for longer than this is followed by a pause, in milliseconds.
    static let quickMilliseconds: UInt64 = 50
    /// How many reasons for not following are remembered, so that each is logged once.
    static let rememberedReasons = 8
    /// The longest pause, in milliseconds.
    static let longestPause: UInt64 = 1000

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

    /// Begins to follow at the position of the source's data.
    ///
    /// - Parameter stateDirectory: nil if sources are not persistent.
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

    /// Applies the declared options to the source; features that the previous options left out come back with
    /// the next copy.
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

    /// Stops following. The data and the slot remain.
    func stop(_ then: @escaping () -> Void) {
        ending.begin()
        (refreshing, retrying, keeping, gathering) = (nil, nil, nil, nil)
        steps = []
        messageClaim = nil
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

    /// Runs `body` on the pool, and continues with the next step after it.
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

    /// The result of a pool job. It is written by the job and read on the loop after libuv's hand-over, which
    /// orders the two, so `@unchecked Sendable` is sound.
    final class Outcome<Value>: @unchecked Sendable {
        var result: Result<Value, TableJob.Failure>?
    }
}
