// SPDX-License-Identifier: MIT
import EventLoop

/// Looks now and then whether a table is still the one that is followed, and still published. The server's log reports neither
/// that a table was dropped or that another took its name, nor that a publication leaves it out.
///
/// Each look takes a connection of its own for a moment: that of replication takes no queries meanwhile.
final class CatalogWatch {
    private let loop: EventLoop
    private let configuration: TableFeedConfiguration
    private let plan: FollowPlan
    private let changed: (FeedSession.End) -> Void
    private var attempt: ConnectionAttempt?
    private var connection: PostgresConnection?
    private var next: Timer?

    /// - Parameters:
    ///   - plan: what is followed.
    ///   - changed: called if that cannot go on.
    init(
        on loop: EventLoop, _ configuration: TableFeedConfiguration, _ plan: FollowPlan,
        changed: @escaping (FeedSession.End) -> Void
    ) {
        (self.loop, self.configuration, self.plan, self.changed) = (loop, configuration, plan, changed)
        lookLater()
    }

    func close() {
        attempt?.cancel()
        connection?.close()
        (attempt, connection, next) = (nil, nil, nil)
    }

    /// If a look never ends because the network is gone, that of replication ends, and this with it.
    private func lookLater() {
        next = Timer(on: loop, delay: configuration.catalogMilliseconds) { [weak self] in self?.look() }
    }

    private func look() {
        attempt = ConnectionAttempt(on: loop, configuration.connection, isReplication: false) {
            [weak self] result in
            guard let self else { return }
            attempt = nil
            // If there is no connection, that of replication reports it.
            guard case .success(let made) = result else { return lookLater() }
            connection = made
            made.query(SessionSettings.sql + CatalogQuery.sql(configuration)) { [weak self] answer in
                self?.take(answer)
            }
        }
    }

    private func take(_ answer: PostgresConnection.Answer) {
        close()
        guard case .success(let results) = answer,
            let catalog = try? Catalog((FeedSession.rows(results).first?.first ?? nil) ?? ""),
            let end = change(in: catalog)
        else { return lookLater() }
        changed(end)
    }

    /// Why what is followed has to be looked up again; nil if it need not be.
    private func change(in catalog: Catalog) -> FeedSession.End? {
        switch FollowPlan.make(catalog, configuration) {
        case .failure(let problems):
            // What else prevents a new connection does not prevent that changes are followed.
            let isLost = problems.all.contains { [.table, .publication].contains($0.kind) }
            return isLost ? .problems(problems) : nil
        case .success(let found):
            if found.table.id != plan.table.id { return .mustCopy(CopyDecision.otherTable) }
            if found.fingerprint != plan.fingerprint { return .mustCopy(CopyDecision.otherColumns) }
            return found.publicationSQL.isEmpty ? nil : .mustCopy(CopyDecision.unpublished)
        }
    }
}
