// SPDX-License-Identifier: MIT

/// What a feed is doing.
public enum FeedState: Sendable, Equatable {
    case connecting
    /// It cannot go on at present and tries again by itself. The text says why, for a person; it holds no secrets.
    case waiting(String)
    /// The table is being copied.
    case copying
    /// Changes arrive as they are committed.
    case following
    /// Someone has to act first; the text says what is wrong and has the SQL. It is checked again from time to time.
    case failed(String)
}

/// How far a feed is.
public struct FeedStatus: Sendable, Equatable {
    public internal(set) var state = FeedState.connecting
    /// Up to where changes were confirmed.
    public internal(set) var confirmed: FeedPosition?
    /// The end of the server's log when it last reported it.
    public internal(set) var serverPosition: LogPosition?
    /// How many bytes of the log are between the confirmed position and the server's end; nil if unknown.
    public internal(set) var lagBytes: Int64?
    /// How long ago the oldest unconfirmed transaction was committed, or since when changes are not followed, in
    /// milliseconds; 0 if there is no such transaction and changes are followed.
    public internal(set) var lagMilliseconds: Int64?
    /// Since the feed was made.
    public internal(set) var counters = FeedCounters()
}

/// What a feed has done since it was made.
public struct FeedCounters: Sendable, Equatable {
    public internal(set) var connections = 0
    public internal(set) var copies = 0
    public internal(set) var copiedRows = 0
    public internal(set) var transactions = 0
    public internal(set) var changes = 0
    /// Bytes of transactions that went to the spool.
    public internal(set) var spooledBytes = 0
    public internal(set) var receivedBytes = 0
}
