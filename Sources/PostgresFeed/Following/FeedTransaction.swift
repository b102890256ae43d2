// SPDX-License-Identifier: MIT

/// A committed transaction: its changes to the table's rows, in order.
///
/// Large ones are read from the spool, so that memory stays bounded however many rows there are.
public final class FeedTransaction: Sendable {
    /// The end of the commit: the position of data that include this transaction.
    public let position: FeedPosition
    /// When it was committed, by the server's clock, in microseconds since 1970.
    public let commitMicroseconds: Int64
    private let changes: ChangeLog.Contents

    public var changeCount: Int { changes.count }
    /// The size of the changes, in bytes.
    public var byteCount: Int { changes.byteCount }
    /// Rows that are not features. Each is also delivered as `.remove`.
    public var skipped: SkippedRows { changes.skipped }
    /// Whether the changes are read from the spool.
    public var isSpooled: Bool { changes.spool != nil }

    init(position: FeedPosition, commitMicroseconds: Int64, changes: ChangeLog.Contents) {
        (self.position, self.commitMicroseconds, self.changes) = (position, commitMicroseconds, changes)
    }

    /// Calls `body` for each change in order. Safe from any thread, and repeatable; it may block, because it
    /// reads the spool.
    ///
    /// - Throws: `FileError` if the spool cannot be read, or what `body` throws.
    public func forEach(_ body: (TableChange) throws -> Void) throws {
        if let spool = changes.spool {
            // Records may span pieces.
            var rest: ArraySlice<UInt8> = []
            var offset = 0
            while offset < spool.count {
                let piece = try spool.file.read(min(Self.pieceBytes, spool.count - offset), at: offset)
                guard !piece.isEmpty else { throw PostgresDataError("the spool ends early") }
                offset += piece.count
                rest += piece
                try visit(&rest, body)
            }
            guard rest.isEmpty else { throw PostgresDataError("the spool ends early") }
        }
        var rest = changes.tail[...]
        try visit(&rest, body)
    }

    private static let pieceBytes = 1 << 20

    /// Visits and removes all records that have been read to their end.
    private func visit(_ bytes: inout ArraySlice<UInt8>, _ body: (TableChange) throws -> Void) throws {
        while let (change, subtransaction) = try ChangeRecord.read(&bytes) {
            if !changes.aborted.contains(subtransaction) { try body(change) }
        }
    }
}
