// SPDX-License-Identifier: MIT

/// Follows a table through a `TableFeed`. All calls are made on the loop's thread, one at a time.
public protocol TableFeedConsumer: AnyObject {
    /// A copy of the table begins; it is collected beside the present data.
    ///
    /// - Parameter reason: why the table is copied: a sentence for the log.
    func feedStartedCopy(_ feed: TableFeed, because reason: String)
    /// Rows of the copy, to be read on the pool; `TableFeed.take` requests more. Pieces may be read in any
    /// order and concurrently.
    func feed(_ feed: TableFeed, copied piece: CopyPiece)
    /// All pieces have been delivered and taken. Call `TableFeed.confirm` once the copy is durable.
    func feedFinishedCopy(_ feed: TableFeed, _ copy: CopyEnd)
    /// The copy cannot be finished: discard its pieces. Another copy begins later.
    func feedAbandonedCopy(_ feed: TableFeed)
    /// A transaction was committed. Transactions arrive in commit order.
    func feed(_ feed: TableFeed, committed transaction: FeedTransaction)
    /// The table did not change up to this position, and nothing is unconfirmed.
    func feed(_ feed: TableFeed, advancedTo position: FeedPosition)
    func feed(_ feed: TableFeed, changedState state: FeedState)
    /// The connection holds so many bytes of memory for large messages: 0 once it is closed.
    func feed(_ feed: TableFeed, holds bytes: Int)
}

/// The end of a copy.
public struct CopyEnd: Sendable, Equatable {
    /// The copy contains exactly the transactions that were committed before this position.
    public let position: FeedPosition
    public let skipped: SkippedRows
}

/// What a feed is doing.
public enum FeedState: Sendable, Equatable {
    case connecting
    /// It cannot continue now and retries by itself. The text gives the reason for a person; it contains no secrets.
    case waiting(String)
    /// The table is being copied.
    case copying
    /// Changes arrive as they are committed.
    case following
    /// A person must act first; the text says what is wrong and contains the SQL. It is checked again from
    /// time to time.
    case failed(String)
}
