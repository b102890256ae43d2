// SPDX-License-Identifier: MIT
import EventLoop
import Glibc
import ReplicationLog

/// Follows one table of a PostgreSQL server: copies it, then delivers its transactions in commit order. It
/// recovers from all failures of the connection and the server. Used only on the loop's thread.
///
/// Several transactions may be delivered before the first is confirmed; when a window is full the feed stops
/// reading, and the server keeps the log. The server may discard what was confirmed.
public final class TableFeed {
    public let configuration: TableFeedConfiguration
    private let loop: EventLoop
    private weak var consumer: (any TableFeedConsumer)?
    private var session: FeedSession?
    private var reconnection: Timer?
    private var backOff = BackOff()
    private(set) var window = ConfirmationWindow()
    public private(set) var state = FeedState.connecting
    /// How many connections were begun, and how often the catalog was checked while the table was followed.
    private(set) var (connections, catalogChecks) = (0, 0)
    /// The position up to which the consumer has received transactions.
    private var delivered: FeedPosition?
    private var confirmed: FeedPosition?
    /// The end of the server's log when the server last reported it.
    public private(set) var serverPosition: LogPosition?
    /// The position up to which the server has nothing more for the table.
    private var idle: FeedPosition?
    private var copyReason: String?
    private var isCopying = false
    /// The number of consecutive attempts that found the slot in use: the server takes a moment to notice
    /// that this feed's last connection ended.
    private var refusals = 0
    /// The time since which the consumer's data may lack transactions that are unknown here, in microseconds
    /// since 1970; nil while changes are followed, and if there are no data.
    private var staleSince: Int64?
    /// The end of the server's log when this session began to follow it; nil before.
    private var followStart: LogPosition?
    private var isStopped = false

    /// - Parameter consumer: held weakly.
    public init(on loop: EventLoop, _ configuration: TableFeedConfiguration, consumer: any TableFeedConsumer) {
        (self.loop, self.configuration, self.consumer) = (loop, configuration, consumer)
    }

    deinit {
        // The loop's handles must be released before the loop.
        session?.close()
        (session, reconnection) = (nil, nil)
    }

    /// Begins to connect.
    ///
    /// - Parameter position: the last position that was made durable; nil for a copy. If the server cannot
    ///   continue from it, the table is copied too.
    public func start(from position: FeedPosition?) {
        (delivered, confirmed) = (position, position)
        if position != nil { staleSince = Self.now }
        connect()
    }

    /// Confirms that everything up to this position is applied and durable. Positions ascend; confirming the
    /// last of several suffices.
    public func confirm(_ position: FeedPosition) {
        // Positions delivered before a copy began say nothing about what follows it.
        guard !isStopped, !isCopying, let delivered, position.isOfSameHistory(as: delivered),
            position.log <= delivered.log
        else { return }
        confirmed = position
        window.confirm(position.log)
        noteCurrent()
        updateSession()
        announceIdle()
    }

    /// The consumer has read a piece of the current copy and no longer needs it.
    ///
    /// - Parameter count: the result of `CopyPiece.read`. Do not take pieces of an abandoned copy.
    public func take(_ count: CopyCount) { session?.take(count) }

    /// Copies the table again, beside the present data, because these are no longer usable.
    ///
    /// - Parameter reason: a sentence for the log.
    public func copyAgain(_ reason: String) {
        guard !isStopped else { return }
        endSession()
        copyReason = reason
        reconnect(after: BackOff.first)
    }

    /// Disconnects; no callback follows. The slot remains.
    public func stop() {
        isStopped = true
        session?.close()
        (session, reconnection, consumer) = (nil, nil, nil)
    }

    /// How long ago the oldest unconfirmed transaction was committed, or how long changes have not been
    /// followed, in milliseconds; 0 if changes are followed and everything is confirmed.
    public var lagMilliseconds: Int64 {
        let oldest = window.oldestCommit.map { min($0, staleSince ?? $0) } ?? staleSince
        return oldest.map { max(0, Self.now - $0) / 1000 } ?? 0
    }

    /// The wall clock, in microseconds since 1970.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    // MARK: Connections

    private func connect() {
        guard !isStopped else { return }
        reconnection = nil
        connections += 1
        let next = FeedSession(on: loop, configuration, resume: delivered, copyReason: copyReason, owner: self)
        session = next
        next.start()
    }

    private func reconnect(after milliseconds: UInt64) {
        reconnection = Timer(on: loop, delay: milliseconds) { [weak self] in self?.connect() }
    }

    /// Ends the session from this side; a copy in progress is abandoned.
    private func endSession() {
        session?.close()
        session = nil
        consumer?.feed(self, holds: 0)
        abandonCopy()
        noteStale()
    }

    private func noteStale() {
        followStart = nil
        if delivered != nil, staleSince == nil { staleSince = Self.now }
    }

    /// Records whether the consumer has everything that the server had when it began to send changes.
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

    /// Reports the position when nothing is unconfirmed and the server has reported that there is nothing more.
    private func announceIdle() {
        guard let idle, window.isEmpty, !isCopying, let delivered else { return }
        self.idle = nil
        guard idle.log > delivered.log else { return }
        self.delivered = idle
        noteCurrent()
        consumer?.feed(self, advancedTo: idle)
    }
}

/// A session's reports.
extension TableFeed {
    func sessionConnected() { backOff.connect(at: loop.now) }

    /// The session cannot continue now, but will continue by itself.
    func sessionWaits(_ reason: String) { change(to: .waiting(reason)) }

    func sessionStartedCopy(because reason: String) {
        isCopying = true
        window.removeAll()
        idle = nil
        change(to: .copying)
        consumer?.feedStartedCopy(self, because: reason)
    }

    func sessionCopied(_ piece: CopyPiece) { consumer?.feed(self, copied: piece) }

    func sessionFinishedCopy(_ copy: CopyEnd) {
        isCopying = false
        copyReason = nil
        (delivered, confirmed) = (copy.position, nil)
        window.add(copyAt: copy.position.log)
        consumer?.feedFinishedCopy(self, copy)
    }

    /// Changes are being followed.
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
        window.add(transaction)
        backOff.reset()
        updateSession()
        consumer?.feed(self, committed: transaction)
    }

    /// All transactions before this position have been delivered.
    func sessionIsIdle(at position: FeedPosition) {
        idle = position
        announceIdle()
    }

    /// The server has reported the end of its log.
    func sessionReached(serverEnd: LogPosition) {
        serverPosition = max(serverPosition ?? serverEnd, serverEnd)
    }

    /// The catalog was checked while changes are followed.
    func sessionCheckedCatalog() { catalogChecks += 1 }

    /// The connection holds so many bytes of memory for large messages.
    func sessionHolds(bytes: Int) { consumer?.feed(self, holds: bytes) }

    /// The connection is closed. This is the session's last call.
    func sessionEnded(_ end: FeedSession.End) {
        endSession()
        switch end {
        case .lost(let error):
            let what = error.isConnectionFault ? "no connection to PostgreSQL" : "PostgreSQL refuses"
            change(to: .waiting("\(what): \(error)"))
        case .problems(let problems):
            if delivered != nil, problems.all.contains(where: { $0.kind == .publication }) {
                copyReason = CopyDecision.unpublished
            }
            change(to: .failed(problems.description))
        case .slotInUse(let message):
            refusals += 1
            if refusals > 3 { change(to: .waiting(message)) }
        case .mustCopy(let reason):
            copyReason = reason
            idle = nil
        case .overgrown: return reconnect(after: BackOff.first)
        }
        reconnect(after: backOff.next(at: loop.now))
    }
}
