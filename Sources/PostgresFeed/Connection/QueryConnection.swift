// SPDX-License-Identifier: MIT
import EventLoop

/// A connection for queries, beside the one for replication, which accepts none while it streams. The first query
/// makes it.
final class QueryConnection {
    private let loop: EventLoop
    private let connectionString: String
    private var attempt: ConnectionAttempt?
    private var connection: PostgresConnection?

    init(on loop: EventLoop, _ connectionString: String) {
        (self.loop, self.connectionString) = (loop, connectionString)
    }

    /// Runs SQL, one text at a time, and passes on the rows of its last result.
    func query(_ sql: String, _ then: @escaping (Result<[[String?]], PostgresError>) -> Void) {
        guard let connection else { return connect(for: sql, then) }
        connection.query(sql) { then($0.map(\.rows)) }
    }

    private func connect(for sql: String, _ then: @escaping (Result<[[String?]], PostgresError>) -> Void) {
        attempt = ConnectionAttempt(on: loop, connectionString, isReplication: false) { [weak self] result in
            guard let self else { return }
            attempt = nil
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(let made):
                made.onLoss = { [weak self] _ in self?.connection = nil }
                connection = made
                made.query(SessionSettings.sql) { [weak self] answer in
                    if case .failure(let error) = answer { return then(.failure(error)) }
                    self?.query(sql, then)
                }
            }
        }
    }

    /// Closes the connection; no callback follows. Another query opens a new one.
    func close() {
        attempt?.cancel()
        connection?.close()
        (attempt, connection) = (nil, nil)
    }
}
