// SPDX-License-Identifier: MIT
import EventLoop
import Glibc

/// Follows one table of a PostgreSQL server: copies it, then delivers its transactions in commit order, and keeps at it
/// through whatever happens to the connection and the server. All of it is for the loop's thread.
///
/// Several transactions may be delivered before the first is confirmed; beyond a window the feed stops reading, and the
/// server keeps the log. The server may forget what was confirmed.
public final class TableFeed {
    public let configuration: TableFeedConfiguration
    private let loop: EventLoop
    private weak var consumer: (any TableFeedConsumer)?
    private var session: FeedSession?
    private var reconnection: Timer?
    private var backOff = BackOff()
    private var window = ConfirmationWindow()
    private var state = FeedState.connecting
    private var counters = FeedCounters()
    /// The end of what the consumer was given.
    private var delivered: FeedPosition?
    private var confirmed: FeedPosition?
    private var serverPosition: LogPosition?
    /// Up to where the server has nothing more for the table.
    private var idle: FeedPosition?
    private var copyReason: String?
    private var isCopying = false
    /// How often the slot was in use in a row: the server takes a moment to notice that this feed's last connection ended.
    private var refusals = 0
    private var connectedAt: UInt64 = 0
    /// Since when the consumer's data may lack transactions that nobody here knows of, in microseconds since 1970; nil while
    /// changes are followed, and if there are no data.
    private var staleSince: Int64?
    /// The end of the server's log when this session began to follow it; nil before.
    private var followStart: LogPosition?
    private var isStopped = false

    /// A connection that lasted this long was good: the next attempt comes soon.
    private static let stableMilliseconds: UInt64 = 10_000

    /// - Parameter consumer: held weakly.
    public init(
        on loop: EventLoop, _ configuration: TableFeedConfiguration, consumer: any TableFeedConsumer
    ) {
        (self.loop, self.configuration, self.consumer) = (loop, configuration, consumer)
    }

    deinit {
        // Handles of the loop go before the loop does.
        session?.close()
        (session, reconnection) = (nil, nil)
    }

    /// Begins to connect.
    ///
    /// - Parameter position: the last that was made durable; nil for a copy. If the server cannot go on from there, there
    ///   is a copy too.
    public func start(from position: FeedPosition?) {
        (delivered, confirmed) = (position, position)
        if position != nil { staleSince = Self.now }
        connect()
    }

    /// Everything up to this position is applied and durable. Positions ascend; the last of several is enough.
    public func confirm(_ position: FeedPosition) {
        // What was delivered before a copy began says nothing of what comes after it.
        guard !isStopped, !isCopying, let delivered, position.isOfSameHistory(as: delivered),
            position.log <= delivered.log
        else { return }
        confirmed = position
        window.confirm(position.log)
        noteCurrent()
        updateSession()
        announceIdle()
    }

    /// The consumer has read a piece of the copy under way, and is done with it.
    ///
    /// - Parameter count: what `CopyPiece.read` returned. A piece of a copy that was abandoned is not taken.
    public func take(_ count: CopyCount) {
        counters.copiedRows += count.rows
        session?.take(count)
    }

    /// Copies the table again, beside the present data, because those are of no use any more.
    ///
    /// - Parameter reason: a sentence for the log.
    public func copyAgain(_ reason: String) {
        guard !isStopped else { return }
        endSession()
        copyReason = reason
        reconnect(after: BackOff.first)
    }

    /// Disconnects; no callback comes afterwards but `then`. The slot stays.
    public func stop(_ then: @escaping () -> Void) {
        isStopped = true
        session?.close()
        (session, reconnection, consumer) = (nil, nil, nil)
        then()
    }

    /// How far the feed is at this moment.
    public var status: FeedStatus {
        var status = FeedStatus()
        status.state = state
        status.confirmed = confirmed
        status.serverPosition = serverPosition
        if let confirmed, let serverPosition {
            status.lagBytes =
                Int64(serverPosition.rawValue) - Int64(min(serverPosition, confirmed.log).rawValue)
        }
        let oldest = window.oldestCommit.map { min($0, staleSince ?? $0) } ?? staleSince
        status.lagMilliseconds = oldest.map { max(0, Self.now - $0) / 1000 } ?? 0
        status.counters = counters
        return status
    }

    /// Whether the consumer has so much to confirm that nothing is read.
    var isReadingStopped: Bool { window.isFull }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    // MARK: Connections

    private func connect() {
        guard !isStopped else { return }
        reconnection = nil
        counters.connections += 1
        let next = FeedSession(
            on: loop, configuration, resume: delivered, copyReason: copyReason, owner: self)
        session = next
        next.start()
    }

    private func reconnect(after milliseconds: UInt64) {
        reconnection = Timer(on: loop, delay: milliseconds) { [weak self] in self?.connect() }
    }

    /// Ends the session from this side; a copy under way is of no use.
    private func endSession() {
        session?.close()
        session = nil
        abandonCopy()
        noteStale()
    }

    private func noteStale() {
        followStart = nil
        if delivered != nil, staleSince == nil { staleSince = Self.now }
    }

    /// Notes that the consumer has all that the server had when it began to send changes.
    private func noteCurrent() {
        guard let followStart, window.isEmpty, let delivered, delivered.log >= followStart else { return }
        staleSince = nil
    }

    private func abandonCopy() {
        guard isCopying else { return }
        isCopying = false
        consumer?.feedAbandonedCopy(self)
    }

    private func change(to state: FeedState) {
        guard state != self.state else { return }
        self.state = state
        consumer?.feed(self, changedState: state)
    }

    private func updateSession() { session?.confirmed(confirmed?.log, isFull: window.isFull) }

    /// The position with nothing unconfirmed, once the server has reported that there is nothing more.
    private func announceIdle() {
        guard let idle, window.isEmpty, !isCopying, let delivered else { return }
        self.idle = nil
        guard idle.log > delivered.log else { return }
        self.delivered = idle
        noteCurrent()
        consumer?.feed(self, advancedTo: idle)
    }
}

extension TableFeed: FeedSessionOwner {
    func sessionConnected() { connectedAt = loop.now }

    func sessionWaits(_ reason: String) { change(to: .waiting(reason)) }

    func sessionStartedCopy(_ copy: CopyStart) {
        isCopying = true
        counters.copies += 1
        window.removeAll()
        idle = nil
        change(to: .copying)
        consumer?.feedStartedCopy(self, copy)
    }

    func sessionCopied(_ piece: CopyPiece) { consumer?.feed(self, copied: piece) }

    func sessionFinishedCopy(_ copy: CopyEnd) {
        isCopying = false
        copyReason = nil
        (delivered, confirmed) = (copy.position, nil)
        window.add(copyAt: copy.position.log)
        consumer?.feedFinishedCopy(self, copy)
    }

    func sessionFollows(serverEnd: LogPosition) {
        refusals = 0
        serverPosition = serverEnd
        followStart = serverEnd
        noteCurrent()
        updateSession()
        change(to: .following)
    }

    func sessionCommitted(_ transaction: FeedTransaction) {
        delivered = transaction.position
        counters.transactions += 1
        counters.changes += transaction.changeCount
        window.add(transaction)
        backOff.reset()
        updateSession()
        consumer?.feed(self, committed: transaction)
    }

    func sessionIsIdle(at position: FeedPosition) {
        idle = position
        announceIdle()
    }

    func sessionReceived(bytes: Int, serverEnd: LogPosition?) {
        counters.receivedBytes += bytes
        guard let serverEnd else { return }
        serverPosition = max(serverPosition ?? serverEnd, serverEnd)
    }

    func sessionSpooled(bytes: Int) { counters.spooledBytes += bytes }

    func sessionEnded(_ end: FeedSession.End) {
        session = nil
        abandonCopy()
        noteStale()
        if loop.now - connectedAt > Self.stableMilliseconds { backOff.reset() }
        switch end {
        case .lost(let error):
            let what = error.isConnectionFault ? "no connection to PostgreSQL" : "PostgreSQL refuses"
            change(to: .waiting("\(what): \(error)"))
        case .problems(let problems): change(to: .failed(problems.description))
        case .slotInUse(let message):
            refusals += 1
            if refusals > 3 { change(to: .waiting(message)) }
        case .mustCopy(let reason):
            copyReason = reason
            idle = nil
        }
        reconnect(after: backOff.next())
    }
}
