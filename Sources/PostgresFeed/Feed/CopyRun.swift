// SPDX-License-Identifier: MIT
import EventLoop

/// Copies a table: the loop receives, the pool converts one batch at a time, the consumer takes pieces. Each of them
/// waits for the next one, so memory holds a few batches.
final class CopyRun {
    private let loop: EventLoop
    private let connection: PostgresConnection
    private let plan: FollowPlan
    private let converter: CopyConverter
    private weak var owner: (any FeedSessionOwner)?
    private let ended: (Result<CopyRun, FeedSession.End>) -> Void
    /// Received, not given to the pool.
    private var batch: [UInt8] = []
    private var isConverting = false
    /// Delivered, not taken.
    private var pieces = 0
    private var hasAllRows = false
    private var isOver = false

    /// A batch goes to the pool from this size on, in bytes.
    private static let batchBytes = 512 << 10
    private static let mostPieces = 2

    init(
        on loop: EventLoop, _ connection: PostgresConnection, _ plan: FollowPlan,
        _ configuration: TableFeedConfiguration, owner: (any FeedSessionOwner)?,
        ended: @escaping (Result<CopyRun, FeedSession.End>) -> Void
    ) {
        (self.loop, self.connection, self.plan) = (loop, connection, plan)
        (self.owner, self.ended) = (owner, ended)
        converter = CopyConverter(RowWriter(plan.layout, maximumBytes: configuration.maximumFeatureBytes))
    }

    var rowCount: Int { converter.rowCount }
    var skipped: SkippedRows { converter.skipped }

    func start() {
        connection.copy(
            plan.copySQL,
            to: PostgresConnection.CopyReceiver(
                data: { [weak self] in self?.receive($0) },
                ended: { [weak self] result in
                    switch result {
                    case .success:
                        self?.hasAllRows = true
                        self?.proceed()
                    case .failure(let error): self?.finish(.failure(.lost(error)))
                    }
                }))
    }

    func pieceWasTaken() {
        pieces -= 1
        proceed()
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        batch.append(contentsOf: bytes)
        owner?.sessionReceived(bytes: bytes.count, serverEnd: nil)
        if batch.count >= Self.batchBytes { proceed() }
    }

    private func proceed() {
        guard !isOver else { return }
        if !isConverting, pieces < Self.mostPieces,
            hasAllRows ? !batch.isEmpty : batch.count >= Self.batchBytes
        {
            convert()
        }
        connection.isPaused = batch.count >= Self.batchBytes
        guard hasAllRows, !isConverting, batch.isEmpty else { return }
        guard converter.isComplete else {
            return finish(.failure(.lost(PostgresError("the copy of the table ended early"))))
        }
        finish(.success(self))
    }

    private func convert() {
        let batch = batch
        self.batch = []
        self.batch.reserveCapacity(Self.batchBytes)
        isConverting = true
        let converter = converter
        let piece = Piece()
        loop.work {
            piece.value = converter.convert(batch)
        } completion: { [weak self] in
            self?.deliver(piece.value)
        }
    }

    /// What the pool has made. The loop reads it after the pool has written it; libuv orders the two, which is why it may
    /// be shared.
    private final class Piece: @unchecked Sendable {
        var value = CopyPiece(features: [], rowCount: 0)
    }

    private func deliver(_ piece: CopyPiece) {
        isConverting = false
        guard !isOver else { return }
        if let error = converter.error {
            return finish(.failure(.problems(TableProblems([TableProblem(.type, error.description)]))))
        }
        if piece.rowCount > 0 {
            pieces += 1
            owner?.sessionCopied(piece)
        }
        proceed()
    }

    private func finish(_ result: Result<CopyRun, FeedSession.End>) {
        guard !isOver else { return }
        isOver = true
        ended(result)
    }
}
