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
    var copy: FeatureImport?
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
        guard isDisconnected, !isWorking else { return }
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

    func advance() {
        guard !isWorking, retrying == nil, !ending.isEnding, let step = steps.first else { return }
        switch step {
        case .piece(let piece, let copy):
            steps.removeFirst()
            gather(piece, into: copy)
        case .endOfCopy(let end, let copy):
            steps.removeFirst()
            finish(end, copy)
        case .transaction: applyTransactions()
        case .mark(let position):
            steps.removeFirst()
            keep(position)
        }
    }

    func gather(_ piece: CopyPiece, into copy: FeatureImport) {
        let threads = threads
        perform { () throws(TableJob.Failure) in
            try TableJob.gather(piece, into: copy, threads: threads)
        } then: { [self] _ in
            if self.copy === copy { feed?.take(piece) }
        } orElse: { [self] failure in
            if self.copy === copy { copyLater(failure) }
        }
    }

    func finish(_ end: CopyEnd, _ copy: FeatureImport) {
        let (log, cancellation) = (
            FollowedLog(origin: origin, mark: LogMark(end.position)), ending.cancellation
        )
        perform { () throws(TableJob.Failure) in
            try TableJob.finish(copy, following: log, cancellation)
        } then: { [self] outcome in
            if self.copy === copy { self.copy = nil }
            attempts = 0
            if let feed { take(feed.status.state) }
            copied(outcome, end)
            feed?.confirm(end.position)
        } orElse: { [self] failure in
            if self.copy === copy { copyLater(failure) }
        }
    }

    func applyTransactions() {
        var transactions: [FeedTransaction] = []
        var changeCount = 0
        for case .transaction(let transaction) in steps.prefix(while: \.isTransaction) {
            guard transactions.isEmpty || changeCount + transaction.changeCount <= Self.mostChanges else {
                break
            }
            transactions.append(transaction)
            changeCount += transaction.changeCount
        }
        guard let last = transactions.last else { return }
        steps.removeFirst(transactions.count)
        let (source, cancellation, batch) = (source, ending.cancellation, transactions)
        perform { () throws(TableJob.Failure) in
            try TableJob.apply(batch, to: source, cancellation)
        } then: { [self] skippedReasons in
            for transaction in batch { count(transaction.skipped) }
            count(skippedReasons)
            (attempts, latest, keeping) = (0, nil, nil)
            feed?.confirm(last.position)
            refresh()
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

    func keep(_ position: FeedPosition) {
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

    // MARK: What goes wrong

    /// Tries again after a while that grows; what was not applied is kept, and so is the server's log.
    func retry(_ failure: TableJob.Failure, _ again: @escaping () -> Void) {
        guard case .source(let error) = failure else { return }
        if case .sourceNotFound = error { return }
        attempts += 1
        if !isRetried {
            log.write(
                .error, "changes of the table can't be applied, which is tried again: \(error.description)",
                fields)
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

    func endRetrying() {
        isRetried = false
        status.note = nil
        if let feed { take(feed.status.state) }
        log.write(.notice, "changes of the table are applied again", fields)
    }

    /// A copy could not be taken over: another is made after a while.
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
