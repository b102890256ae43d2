// SPDX-License-Identifier: MIT
import EventLoop

/// Copies a table. The loop receives rows and delivers them in pieces, which the consumer reads on the pool,
/// several concurrently. While too many delivered bytes have not been taken, nothing is received, so memory
/// holds only a few pieces.
final class CopyRun {
    private let connection: PostgresConnection
    private let plan: FollowPlan
    /// The size in bytes from which a row is no feature, whatever it contains: features are about as long as
    /// their rows.
    private let mostRowBytes: Int
    private let writer: RowWriter
    private weak var owner: TableFeed?
    private let ended: (Result<CopyRun, FeedSession.End>) -> Void
    /// Rows received and not delivered.
    private var batch: [UInt8] = []
    private var hasHeader = false
    /// Whether the end of all rows has arrived.
    private var hasAllRows = false
    /// Whether the statement has ended.
    private var hasEnded = false
    /// Bytes delivered and not taken.
    private var deliveredBytes = 0
    private var isOver = false
    private(set) var skipped = SkippedRows()

    /// The size in bytes from which a piece is delivered: what a core reads at once stays in its cache.
    private static let pieceBytes = 256 << 10
    /// How many bytes may be delivered and not taken; a single larger piece is always allowed.
    private static let mostDelivered = 4 << 20

    init(
        _ connection: PostgresConnection, _ plan: FollowPlan, _ configuration: TableFeedConfiguration,
        owner: TableFeed?, ended: @escaping (Result<CopyRun, FeedSession.End>) -> Void
    ) {
        (self.connection, self.plan) = (connection, plan)
        (self.owner, self.ended) = (owner, ended)
        mostRowBytes = 4 * configuration.maximumFeatureBytes
        writer = RowWriter(plan.layout, maximumBytes: configuration.maximumFeatureBytes, isCopied: true)
    }

    func start() {
        connection.copy(
            plan.copySQL,
            to: PostgresConnection.CopyReceiver(
                data: { [weak self] in self?.receive($0) },
                ended: { [weak self] result in
                    switch result {
                    case .success:
                        self?.hasEnded = true
                        self?.proceed()
                    case .failure(let error): self?.finish(.failure(.lost(error)))
                    }
                }))
    }

    /// The consumer has read a piece.
    func take(_ count: CopyCount) {
        deliveredBytes -= count.byteCount
        skipped += count.skipped
        if let error = count.error { return fail(error) }
        proceed()
    }

    private func receive(_ message: Span<UInt8>) {
        guard !isOver else { return }
        var rows = message
        if !hasHeader {
            do throws(PostgresDataError) {
                rows = message.extracting(droppingFirst: try CopyDecoder.headerSize(message))
            } catch { return fail(error) }
            hasHeader = true
        }
        if CopyDecoder.isEnd(rows) { return hasAllRows = true }
        if rows.count > mostRowBytes { return skipped[.tooLarge] += 1 }
        if batch.isEmpty { batch.reserveCapacity(Self.pieceBytes + Self.pieceBytes / 8) }
        batch.append(contentsOf: rows)
        if batch.count >= Self.pieceBytes { proceed() }
    }

    private func proceed() {
        guard !isOver else { return }
        let hasPiece = batch.count >= Self.pieceBytes || hasEnded && !batch.isEmpty
        if hasPiece, deliveredBytes < Self.mostDelivered { deliver() }
        connection.isPaused = batch.count >= Self.pieceBytes
        guard hasEnded, batch.isEmpty, deliveredBytes == 0, !isOver else { return }
        guard hasAllRows else {
            return finish(.failure(.lost(PostgresError("the copy of the table ended early"))))
        }
        finish(.success(self))
    }

    private func deliver() {
        let piece = CopyPiece(rows: batch, writer: writer)
        batch = []
        deliveredBytes += piece.byteCount
        owner?.sessionCopied(piece)
    }

    private func fail(_ error: PostgresDataError) {
        finish(.failure(.problem(.type, error.description)))
    }

    private func finish(_ result: Result<CopyRun, FeedSession.End>) {
        guard !isOver else { return }
        isOver = true
        ended(result)
    }
}
