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
    let settings: TableFeedConfiguration
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
        _ declared: DeclaredSource, _ settings: TableFeedConfiguration, of source: Source, loop: EventLoop, log: Log,
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
        status = ReplicationStatus(table: "the table \(settings.declaredTable)", state: .waiting)
        source.replication = status
    }

    /// Begins to follow at the position of the source's data.
    ///
    /// - Parameter stateDirectory: nil if sources are not persistent.
    func start(stateDirectory: String?) {
        let feed = TableFeed(
            on: loop, settings.feed(of: source.name.text, stateDirectory: stateDirectory), consumer: self)
        self.feed = feed
        refreshing = Timer(on: loop, delay: Self.refreshInterval, every: Self.refreshInterval) { [weak self] in
            self?.refresh()
        }
        refreshing?.unreference()
        changeOptions { [weak self] in
            guard let self, !self.ending.isEnding else { return }
            let known = self.source.revision.logs[.table(self.origin)]
            feed.start(from: known.flatMap { FeedPosition($0.text) })
        }
    }

    /// Applies the declared options to the source; features that the previous options left out come back with
    /// the next copy.
    private func changeOptions(_ then: @escaping () -> Void) {
        let (source, options, cancellation) = (source, options, ending.cancellation)
        guard options.json != source.revision.options.json else { return then() }
        perform { () throws(TableJob.Failure) in
            _ = try TableJob.converted { () throws(SourceError) in try source.update(options: options, cancellation) }
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
        feed?.stop()
        feed = nil
        whenEnded = then
        endWhenIdle()
    }

    func endWhenIdle() {
        guard !isWorking, piecesInWork == 0 else { return }
        source.replication = nil
        let then = whenEnded
        whenEnded = nil
        then?()
    }

    // MARK: Work on the pool

    /// Runs `body` on the pool, and continues with the next step after it.
    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TableJob.Failure) -> Value, then: @escaping (Value) -> Void,
        orElse: @escaping (TableJob.Failure) -> Void
    ) {
        isWorking = true
        loop.compute(isLong: true) {
            Result { () throws(TableJob.Failure) in try body() }
        } completion: { [self] (outcome: Result<Value, TableJob.Failure>) in
            isWorking = false
            guard !ending.isEnding else { return endWhenIdle() }
            switch outcome {
            case .success(let value):
                if isRetried { endRetrying() }
                then(value)
            case .failure(let failure): orElse(failure)
            }
            advance()
        }
    }

    // MARK: Steps

    /// Applies what the feed has delivered, step by step.
    func advance() {
        guard !isWorking, retrying == nil, !ending.isEnding, let step = steps.first else { return }
        switch step {
        case .endOfCopy(let end, let copy):
            steps.removeFirst()
            finish(end, copy)
        case .transaction: if gathering == nil { applyTransactions() }
        case .mark(let position):
            steps.removeFirst()
            keep(position)
        }
    }

    private func finish(_ end: CopyEnd, _ copy: FeatureImport) {
        let (log, cancellation) = (
            FollowedLog(origin: .table(origin), mark: LogMark(end.position)), ending.cancellation
        )
        perform { () throws(TableJob.Failure) in
            try TableJob.converted { () throws(SourceError) in try copy.finish(cancellation, following: log) }
        } then: { [self] outcome in
            if self.copy?.features === copy { self.copy = nil }
            attempts = 0
            if let feed { take(feed.state) }
            copied(outcome, end)
            // The data are already visible; the server learns of the position once they are durable.
            steps.insert(.mark(end.position), at: 0)
        } orElse: { [self] failure in
            if self.copy?.features === copy { copyLater(failure) }
        }
    }

    private func applyTransactions() {
        let batch = steps.prefix(while: \.isTransaction).compactMap(\.transaction)
        guard let last = batch.last else { return }
        steps.removeFirst(batch.count)
        let (source, cancellation, began) = (source, ending.cancellation, loop.now)
        perform { () throws(TableJob.Failure) in
            try TableJob.apply(batch, to: source, cancellation)
        } then: { [self] skippedReasons in
            for transaction in batch { count(transaction.skipped) }
            count(skippedReasons)
            (attempts, latest, keeping) = (0, nil, nil)
            feed?.confirm(last.position)
            refresh()
            gather(after: loop.now - began)
        } orElse: { [self] failure in
            if case .needsCopy(let reason) = failure {
                steps.removeAll(where: \.isTransaction)
                feed?.copyAgain(reason)
            } else {
                steps.insert(contentsOf: batch.map { .transaction($0) }, at: 0)
                retry(failure) {}
            }
        }
    }

    /// Waits before the next transactions are applied if the last took long: the more are applied together,
    /// the less a change costs, and processors are left to queries.
    private func gather(after milliseconds: UInt64) {
        guard milliseconds > Self.quickMilliseconds else { return }
        gathering = Timer(on: loop, delay: min(3 * milliseconds, Self.longestPause)) { [weak self] in
            self?.gathering = nil
            self?.advance()
        }
    }

    private func keep(_ position: FeedPosition) {
        let (source, cancellation) = (source, ending.cancellation)
        perform { () throws(TableJob.Failure) in
            try TableJob.converted { () throws(SourceError) in try source.keepMark(cancellation) }
        } then: { [self] _ in
            attempts = 0
            feed?.confirm(position)
        } orElse: { [self] failure in
            steps.insert(.mark(position), at: 0)
            retry(failure) {}
        }
    }

    // MARK: Retries

    /// Retries after a delay that grows; what was not applied is retained, and so is the server's log.
    private func retry(_ failure: TableJob.Failure, _ again: @escaping () -> Void) {
        guard case .source(let error) = failure else { return }
        if case .sourceNotFound = error { return }
        attempts += 1
        if !isRetried {
            log.write(
                .error, "changes of the table can't be applied, which is tried again: \(error.description)", fields)
        }
        isRetried = true
        status.note = "changes of the table can't be applied: \(error.description)"
        status.state = .waiting
        refresh()
        let delay = min(30_000, 500 << min(attempts, 6))
        retrying = Timer(on: loop, delay: UInt64(delay)) { [weak self] in
            self?.retrying = nil
            again()
            self?.advance()
        }
    }

    private func endRetrying() {
        isRetried = false
        status.note = nil
        if let feed { take(feed.state) }
        log.write(.notice, "changes of the table are applied again", fields)
    }

    /// A copy could not be applied: makes another one later.
    func copyLater(_ failure: TableJob.Failure) {
        steps = []
        copy?.cancel()
        copy = nil
        switch failure {
        case .needsCopy(let reason): feed?.copyAgain(reason)
        case .source(let error):
            retry(failure) { [weak self] in
                self?.isRetried = false
                self?.feed?.copyAgain("the last copy could not be taken over: \(error.description)")
            }
        }
    }
}

/// What a feed has delivered and a source must apply, in the feed's order.
enum TableStep {
    case endOfCopy(CopyEnd, FeatureImport)
    case transaction(FeedTransaction)
    /// A position to store although nothing changed, or together with the copy that has become visible.
    case mark(FeedPosition)

    var transaction: FeedTransaction? {
        if case .transaction(let transaction) = self { transaction } else { nil }
    }

    var isTransaction: Bool { transaction != nil }
}
