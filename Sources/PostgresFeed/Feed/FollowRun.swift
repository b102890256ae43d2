// SPDX-License-Identifier: MIT
import EventLoop
import ReplicationLog

/// Follows a table's changes by logical replication, and reports the confirmed position to the server.
final class FollowRun {
    private let loop: EventLoop
    private let connection: PostgresConnection
    private let configuration: TableFeedConfiguration
    private let base: FeedPosition
    private let assembler: TransactionAssembler
    private let generated: GeneratedColumns
    private let version: Int
    private let serverEnd: LogPosition
    /// The length in bytes of the longest value that may be of use; nil if generated columns may need a longer one.
    private let longestValue: Int?
    private weak var owner: TableFeed?
    private let ended: (FeedSession.End) -> Void
    private var confirmed: LogPosition
    private var sentConfirmed: LogPosition?
    private var lastSent: UInt64 = 0
    private var lastRequest: UInt64 = 0
    private var tick: Timer?
    /// Reasons to stop reading.
    private var isFull = false
    private var isSpooling = false
    private var isComputing = false
    /// Whether the server has begun to send; nothing may be sent to it before.
    private var hasStarted = false

    init(
        on loop: EventLoop, _ connection: PostgresConnection, _ plan: FollowPlan,
        _ configuration: TableFeedConfiguration, from position: FeedPosition, serverEnd: LogPosition,
        owner: TableFeed, ended: @escaping (FeedSession.End) -> Void
    ) {
        (self.loop, self.connection, self.configuration) = (loop, connection, configuration)
        (base, self.owner, self.ended) = (position, owner, ended)
        confirmed = LogPosition(rawValue: 0)
        (version, self.serverEnd) = (plan.version, serverEnd)
        longestValue =
            plan.layout.generated.isEmpty ? max(configuration.maximumFeatureBytes, Self.leastLongBytes) : nil
        generated = GeneratedColumns(on: loop, configuration, plan.layout)
        assembler = TransactionAssembler(
            plan.layout, table: plan.table.id, maximumFeatureBytes: configuration.maximumFeatureBytes
        ) {
            ChangeLog(on: loop, spoolingIn: configuration.spoolDirectory, budget: configuration.memoryBudget)
        }
    }

    func start() {
        lastSent = loop.now
        connection.copy(
            command,
            to: PostgresConnection.CopyReceiver(
                started: { [weak self] in
                    guard let self else { return }
                    hasStarted = true
                    owner?.sessionFollows(serverEnd: serverEnd)
                },
                data: { [weak self] in self?.receive($0) },
                ended: { [weak self] result in
                    switch result {
                    case .success: self?.ended(.lost(PostgresError("the server ended replication")))
                    case .failure(let error): self?.ended(Self.end(error))
                    }
                }))
        tick = Timer(on: loop, delay: Self.tickMilliseconds, every: Self.tickMilliseconds) { [weak self] in
            self?.keepAlive()
        }
    }

    /// Closes the second connection, if there is one.
    func close() {
        generated.close()
        tick = nil
    }

    private var command: String {
        let publication = SQLName.literal(SQLName.quote(configuration.publicationName))
        // Streaming of transactions before their commit requires PostgreSQL 14 and protocol 2.
        let options = version >= 140_000 ? "proto_version '2', streaming 'on'" : "proto_version '1'"
        return "START_REPLICATION SLOT \(SQLName.quote(configuration.slotName)) LOGICAL \(base.log) "
            + "(\(options), publication_names \(publication))"
    }

    private static func end(_ error: PostgresError) -> FeedSession.End {
        switch error.code {
        case PostgresError.Code.objectInUse: .slotInUse(error.message)
        // The log is decoded with the catalog of its time, which did not contain the publication.
        case PostgresError.Code.undefinedObject where error.message.contains("publication"):
            .mustCopy("the publication did not exist when changes were made (\(error.message))")
        default: .lost(error)
        }
    }

    // MARK: Messages

    private func receive(_ message: Span<UInt8>) {
        let longest = longestValue ?? message.count
        let bytes = LongValues.copy(message, longest: longest, isStreamed: assembler.isStreaming)
        do throws(PostgresDataError) {
            switch try ReplicationFrame(bytes[...]) {
            case .data(let start, let end, let payload):
                owner?.sessionReached(serverEnd: max(start, end))
                try take(try assembler.receive(payload))
            case .keepalive(let end, let wantsReply):
                owner?.sessionReached(serverEnd: end)
                if !assembler.isInTransaction { owner?.sessionIsIdle(at: base.moved(to: end)) }
                if wantsReply { sendStatus() }
            }
        } catch {
            ended(.problem(.type, error.description))
        }
    }

    private func take(_ outcome: TransactionAssembler.Outcome) throws(PostgresDataError) {
        switch outcome {
        case .mustCopy(let reason): ended(.mustCopy(reason))
        case .committed(let commit):
            compute { run in run.wait(for: commit.changes) { $0.deliver(commit) } }
        case .nothing:
            if assembler.pending.byteCount > Self.mostPendingBytes {
                compute { $0.waitForSpool() }
            } else {
                waitForSpool()
            }
        }
    }

    private func waitForSpool() { if let log = assembler.writingLog { wait(for: log) { _ in } } }

    private static let mostPendingBytes = 1 << 20

    /// Copying a shorter value costs less than it is worth to leave it out, and ids, numbers and points are shorter.
    private static let leastLongBytes = 1 << 20

    /// Stops reading until the values of generated columns have been computed, then continues.
    private func compute(_ then: @escaping (FollowRun) -> Void) {
        guard !assembler.pending.isEmpty else { return then(self) }
        isComputing = true
        updatePause()
        generated.evaluate(assembler.pending.inputs) { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): ended(.lost(error))
            case .success(let values):
                do throws(PostgresDataError) { try assembler.resolve(values) } catch {
                    return ended(.problem(.type, error.description))
                }
                isComputing = false
                then(self)
                updatePause()
            }
        }
    }

    /// Stops reading until the pool has written a spool, then continues.
    private func wait(for log: ChangeLog, _ then: @escaping (FollowRun) -> Void) {
        guard log.isWriting else { return then(self) }
        isSpooling = true
        updatePause()
        log.afterWriting { [weak self] in
            guard let self else { return }
            isSpooling = false
            then(self)
            updatePause()
        }
    }

    private func deliver(_ commit: TransactionAssembler.Commit) {
        let position = base.moved(to: commit.end)
        guard !commit.changes.isEmpty else {
            owner?.sessionIsIdle(at: position)
            return
        }
        defer { if assembler.isEmpty, configuration.isOvergrown(connection) { ended(.overgrown) } }
        do {
            owner?.sessionCommitted(
                FeedTransaction(
                    position: position, commitMicroseconds: Self.sinceEpoch(commit.microseconds),
                    changes: try commit.changes.contents()))
        } catch {
            ended(.lost(PostgresError("a transaction cannot be kept in \(configuration.spoolDirectory): \(error)")))
        }
    }

    /// The microseconds from 1970 to 2000, the epoch of PostgreSQL's time.
    private static let epochMicroseconds: Int64 = 946_684_800_000_000

    /// Microseconds since 1970 for the server's since 2000. Times that no clock has are limited to 36,000 years.
    static func sinceEpoch(_ microseconds: Int64) -> Int64 {
        min(max(microseconds, -1 << 60), 1 << 60) + epochMicroseconds
    }

    // MARK: To the server

    /// - Parameter isFull: whether the consumer must catch up before more is read.
    func confirmed(_ position: LogPosition?, isFull: Bool) {
        confirmed = max(confirmed, position ?? confirmed)
        self.isFull = isFull
        updatePause()
        let isNew = confirmed > sentConfirmed ?? LogPosition(rawValue: 0)
        if isNew, hasStarted, loop.now - lastSent >= Self.replyMilliseconds { sendStatus() }
    }

    private func updatePause() { connection.isPaused = isFull || isSpooling || isComputing }

    private static let tickMilliseconds: UInt64 = 1000
    private static let replyMilliseconds: UInt64 = 100
    /// The interval between messages in milliseconds: the server ends a connection that is silent for
    /// wal_sender_timeout, 60 s by default.
    private static let silenceMilliseconds: UInt64 = 10_000
    /// The time without an answer after which the connection counts as lost, in milliseconds.
    private static let deadMilliseconds: UInt64 = 60_000

    private func keepAlive() {
        guard hasStarted else { return }
        let silence = connection.isPaused ? 0 : loop.now - connection.lastArrival
        if silence > Self.deadMilliseconds {
            return ended(.lost(PostgresError("the server has not answered for \(Self.deadMilliseconds / 1000) s")))
        }
        let asks = silence > Self.silenceMilliseconds && loop.now - lastRequest > Self.silenceMilliseconds
        if asks { lastRequest = loop.now }
        if asks || sentConfirmed != confirmed || loop.now - lastSent >= Self.silenceMilliseconds {
            sendStatus(wantsReply: asks)
        }
    }

    private func sendStatus(wantsReply: Bool = false) {
        (lastSent, sentConfirmed) = (loop.now, confirmed)
        connection.send(
            copyData: ReplicationFrame.statusUpdate(
                received: confirmed, durable: confirmed, microseconds: TableFeed.now - Self.epochMicroseconds,
                wantsReply: wantsReply))
    }
}
