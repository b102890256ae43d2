// SPDX-License-Identifier: MIT

/// What follows a table through a `TableFeed`. All calls come on the loop's thread, one at a time.
public protocol TableFeedConsumer: AnyObject {
    /// A copy of the whole table begins; it is gathered beside the present data.
    func feedStartedCopy(_ feed: TableFeed, _ copy: CopyStart)
    /// Rows of the copy, to be read on the pool; `TableFeed.take` asks for more. Pieces may be read in any order, and
    /// several at the same time.
    func feed(_ feed: TableFeed, copied piece: CopyPiece)
    /// All pieces were delivered and taken. `TableFeed.confirm` follows once the copy is durable.
    func feedFinishedCopy(_ feed: TableFeed, _ copy: CopyEnd)
    /// The copy cannot be finished: its pieces are of no use. Another copy begins later.
    func feedAbandonedCopy(_ feed: TableFeed)
    /// A transaction was committed. They come in commit order.
    func feed(_ feed: TableFeed, committed transaction: FeedTransaction)
    /// The table did not change up to this position, and nothing is unconfirmed.
    func feed(_ feed: TableFeed, advancedTo position: FeedPosition)
    func feed(_ feed: TableFeed, changedState state: FeedState)
}

/// The beginning of a copy.
public struct CopyStart: Sendable, Equatable {
    /// Why there is a copy: a sentence for the log.
    public let reason: String
    /// The server's estimate; nil if it has none.
    public let estimatedRows: Int?
}

/// The end of a copy.
public struct CopyEnd: Sendable, Equatable {
    /// The copy has exactly the transactions that were committed before this position.
    public let position: FeedPosition
    /// How many rows are features.
    public let rowCount: Int
    public let skipped: SkippedRows
}
