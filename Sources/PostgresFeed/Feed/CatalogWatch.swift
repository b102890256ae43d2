// SPDX-License-Identifier: MIT
import EventLoop

/// Checks at intervals that a table is still the one that is followed, and is still published. The server's
/// log does not report that a table was dropped or rewritten, that another took its name, that its partitions
/// changed, or that a publication leaves it out.
///
/// Each check opens a connection of its own for a moment, because the replication connection accepts no
/// queries meanwhile.
final class CatalogWatch {
    private let loop: EventLoop
    private let configuration: TableFeedConfiguration
    private let plan: FollowPlan
    private let checked: (FeedSession.End?) -> Void
    private let connection: QueryConnection
    private var next: Timer?

    /// - Parameters:
    ///   - plan: what is followed.
    ///   - checked: called after each check, with the reason if following cannot continue. Nothing follows a reason.
    init(
        on loop: EventLoop, _ configuration: TableFeedConfiguration, _ plan: FollowPlan,
        checked: @escaping (FeedSession.End?) -> Void
    ) {
        (self.loop, self.configuration, self.plan, self.checked) = (loop, configuration, plan, checked)
        connection = QueryConnection(on: loop, configuration.connection)
        checkLater()
    }

    func close() {
        connection.close()
        next = nil
    }

    /// If a check never ends because the network is lost, the replication connection fails, which ends this one too.
    private func checkLater() {
        next = Timer(on: loop, delay: configuration.catalogMilliseconds) { [weak self] in self?.check() }
    }

    private func check() {
        connection.query(CatalogQuery.sql(configuration)) { [weak self] in self?.compare($0) }
    }

    private func compare(_ answer: Result<[[String?]], PostgresError>) {
        close()
        // If the server cannot be reached, the replication connection reports it.
        guard case .success(let rows) = answer, let catalog = try? Catalog(rows) else { return checkLater() }
        let end = change(in: catalog)
        if end == nil { checkLater() }
        checked(end)
    }

    /// Why following has to begin again; nil if it can continue.
    private func change(in catalog: Catalog) -> FeedSession.End? {
        switch FollowPlan.make(catalog, configuration) {
        case .failure(let problems):
            // Other problems prevent a new beginning, but not that changes are followed.
            let isLost = problems.all.contains { [.table, .publication].contains($0.kind) }
            return isLost ? .problems(problems) : nil
        case .success(let found):
            if found.table.id != plan.table.id { return .mustCopy(CopyDecision.otherTable) }
            if found.fingerprint != plan.fingerprint { return .mustCopy(CopyDecision.otherColumns) }
            if let reason = found.copyReason(since: plan.storage) { return .mustCopy(reason) }
            return found.publicationSQL.isEmpty ? nil : .mustCopy(CopyDecision.unpublished)
        }
    }
}
