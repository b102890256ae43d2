// SPDX-License-Identifier: MIT
import EventLoop
import ReplicationLog

/// One connection's life: it reads the catalog, copies the table if necessary, and follows it until an error.
final class FeedSession {
    /// Why a session ended.
    enum End: Error {
        case lost(PostgresError)
        /// A person must change something.
        case problems(TableProblems)
        /// Another process uses the slot.
        case slotInUse(String)
        /// Only a new copy helps; the reason.
        case mustCopy(String)
        /// A large message has left libpq with more memory than a connection should hold: a new connection
        /// goes on where this one ends.
        case overgrown

        static func problem(_ kind: TableProblem.Kind, _ message: String, sql: [String] = []) -> End {
            .problems(TableProblems([TableProblem(kind, message, sql: sql)]))
        }
    }

    let loop: EventLoop
    let configuration: TableFeedConfiguration
    private(set) weak var owner: TableFeed?
    private let resume: FeedPosition?
    private let copyReason: String?
    private var attempt: ConnectionAttempt?
    private(set) var connection: PostgresConnection?
    private var system = SystemIdentity()
    private var slowSlot: Timer?
    private var copy: CopyRun?
    private var follow: FollowRun?
    private var watch: CatalogWatch?
    private var isOver = false
    /// Whether the publication has been made ready once: if that did not suffice, repeating it will not.
    private var hasPrepared = false
    /// Whether changes may be missing from the log since the last position, because they were not published.
    private var hasGap = false

    /// - Parameters:
    ///   - resume: the last delivered position; nil if there are no data.
    ///   - copyReason: why the table must be copied; nil if it need not be.
    init(
        on loop: EventLoop, _ configuration: TableFeedConfiguration, resume: FeedPosition?,
        copyReason: String?, owner: TableFeed
    ) {
        (self.loop, self.configuration, self.owner) = (loop, configuration, owner)
        (self.resume, self.copyReason) = (resume, copyReason)
    }

    func start() {
        attempt = ConnectionAttempt(on: loop, configuration.connection) { [weak self] result in
            guard let self else { return }
            attempt = nil
            switch result {
            case .success(let connection):
                self.connection = connection
                connection.onLoss = { [weak self] in self?.end(.lost($0)) }
                connection.onHold = { [weak self] in self?.owner?.sessionHolds(bytes: $0) }
                owner?.sessionConnected()
                query(SessionSettings.sql) { $0.identify() }
            case .failure(let error) where error.refusesReplication:
                end(.problems(TableProblems([ServerCheck.replicationRight(user: error.user)])))
            case .failure(let error): end(.lost(error.explained))
            }
        }
    }

    /// Closes the connection; no call to the owner follows.
    func close() {
        isOver = true
        owner = nil
        attempt?.cancel()
        follow?.close()
        watch?.close()
        connection?.close()
        (attempt, connection, copy, follow, watch, slowSlot) = (nil, nil, nil, nil, nil, nil)
    }

    func end(_ end: End) {
        guard !isOver else { return }
        let owner = owner
        close()
        owner?.sessionEnded(end)
    }

    // MARK: Calls from the consumer

    /// The consumer has taken a piece of the copy.
    func take(_ count: CopyCount) { copy?.take(count) }

    /// Updates the position to report to the server, and whether more may be read.
    func confirmed(_ position: LogPosition?, isFull: Bool) { follow?.confirmed(position, isFull: isFull) }

    // MARK: Statements

    /// Runs SQL; continues with its results, or ends the session if it fails.
    func query(_ sql: String, _ then: @escaping (FeedSession, [ServerResult]) -> Void) {
        connection?.query(sql) { [weak self] answer in
            guard let self, !isOver else { return }
            switch answer {
            case .success(let results): then(self, results)
            case .failure(let error): end(.lost(error))
            }
        }
    }

    func query(_ sql: String, _ then: @escaping (FeedSession) -> Void) {
        query(sql) { session, _ in then(session) }
    }

    // MARK: Steps

    private func identify() {
        query("IDENTIFY_SYSTEM") { session, results in
            guard let found = SystemIdentity(results.rows) else {
                return session.end(.lost(PostgresError("the server does not identify itself")))
            }
            session.system = found
            session.readCatalog { $0.decide($1, $2) }
        }
    }

    private func readCatalog(_ then: @escaping (FeedSession, Catalog, FollowPlan) -> Void) {
        query(CatalogQuery.sql(configuration)) { session, results in
            do throws(PostgresError) {
                let catalog = try Catalog(results.rows)
                switch FollowPlan.make(catalog, session.configuration) {
                case .success(let plan): then(session, catalog, plan)
                case .failure(let problems): session.end(.problems(problems))
                }
            } catch {
                session.end(.lost(error))
            }
        }
    }

    private func decide(_ catalog: Catalog, _ plan: FollowPlan) {
        if let process = catalog.slot?.process {
            return end(
                .slotInUse(
                    "replication slot \(configuration.slotName) is in use by process \(process) of the server: each daemon "
                        + "needs a slot of its own"))
        }
        guard plan.publicationSQL.isEmpty || hasPrepared else { return preparePublication(plan) }
        let decision = CopyDecision.reason(
            resume: resume, forced: copyReason ?? (hasGap ? CopyDecision.unpublished : nil), system: system,
            catalog: catalog, plan: plan, slot: configuration.slotName)
        guard let reason = decision else {
            guard let resume else { return }
            return follow(plan, from: resume)
        }
        if let resume, resume.system != system.system {
            checkNotEmpty { $0.makeSlot(catalog, plan, reason) }
        } else {
            makeSlot(catalog, plan, reason)
        }
    }

    private func preparePublication(_ plan: FollowPlan) {
        hasPrepared = true
        hasGap = resume != nil
        connection?.query(plan.publicationSQL.joined(separator: " ")) { [weak self] answer in
            guard let self, !isOver else { return }
            guard case .failure(let error) = answer else { return readCatalog { $0.decide($1, $2) } }
            if error.isConnectionFault { return end(.lost(error)) }
            // Another daemon may have created it at the same moment.
            readCatalog { session, catalog, plan in
                guard !plan.publicationSQL.isEmpty else { return session.decide(catalog, plan) }
                session.end(.problem(.publication, error.description, sql: plan.publicationSQL))
            }
        }
    }

    /// An empty table where there were data is more likely a mistake than intended.
    private func checkNotEmpty(_ then: @escaping (FeedSession) -> Void) {
        query("SELECT 1 FROM \(configuration.qualifiedTable) LIMIT 1") { session, results in
            guard results.rows.isEmpty else { return then(session) }
            session.end(
                .problem(
                    .table,
                    "the server is another one than before (its system identifier differs) and its table "
                        + "\(session.configuration.qualifiedTable) is empty; the data from before stay until it has rows"
                ))
        }
    }

    private func makeSlot(_ catalog: Catalog, _ plan: FollowPlan, _ reason: String) {
        let slot = SlotPlan(catalog.slot, configuration)
        if slot.replaces {
            query(slot.dropping) { $0.makeSlot(slot, reason) }
        } else {
            makeSlot(slot, reason)
        }
    }

    private func makeSlot(_ slot: SlotPlan, _ reason: String) {
        slowSlot = Timer(on: loop, delay: Self.slowSlotMilliseconds) { [weak self] in
            self?.owner?.sessionWaits(
                "the server creates the replication slot once all transactions have ended that began earlier")
        }
        query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") { session in
            session.query(slot.creating) { session, results in
                session.slowSlot = nil
                guard let text = results.rows.first?.dropFirst().first, let start = LogPosition(text ?? "") else {
                    return session.end(.lost(PostgresError("the server did not say where the slot begins")))
                }
                // Reads the catalog in the slot's snapshot, because the table may have changed since.
                session.readCatalog { session, _, plan in session.copy(plan, slot, from: start, reason) }
            }
        }
    }

    private static let slowSlotMilliseconds: UInt64 = 5000

    private func copy(_ plan: FollowPlan, _ slot: SlotPlan, from start: LogPosition, _ reason: String) {
        guard let connection else { return }
        let position = system.position(plan, at: start)
        let run = CopyRun(connection, plan, configuration, owner: owner) { [weak self] result in
            guard let self else { return }
            copy = nil
            switch result {
            case .failure(let failed): end(failed)
            case .success(let run):
                query("COMMIT") { session in
                    let end = CopyEnd(position: position, skipped: run.skipped)
                    guard let drop = slot.droppingCompanion else { return session.finishCopy(plan, end) }
                    session.query(drop) { $0.finishCopy(plan, end) }
                }
            }
        }
        copy = run
        owner?.sessionStartedCopy(because: reason)
        run.start()
    }

    private func finishCopy(_ plan: FollowPlan, _ copy: CopyEnd) {
        owner?.sessionFinishedCopy(copy)
        if let connection, configuration.isOvergrown(connection) { return end(.overgrown) }
        follow(plan, from: copy.position)
    }

    private func follow(_ plan: FollowPlan, from position: FeedPosition) {
        guard let connection, let owner else { return }
        let run = FollowRun(
            on: loop, connection, plan, configuration, from: position, serverEnd: system.end, owner: owner
        ) { [weak self] end in self?.end(end) }
        follow = run
        run.start()
        watch = CatalogWatch(on: loop, configuration, plan) { [weak self] end in
            self?.owner?.sessionCheckedCatalog()
            if let end { self?.end(end) }
        }
    }
}

extension TableFeedConfiguration {
    /// Whether a connection holds more memory than features need, so that a new one is better. A temporary
    /// slot would be lost with it.
    func isOvergrown(_ connection: PostgresConnection) -> Bool {
        !isTemporary && connection.largestMessageBytes > 2 * maximumFeatureBytes
    }
}
