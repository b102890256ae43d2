// SPDX-License-Identifier: MIT
import ReplicationLog

/// What a feed is doing.
public enum FeedState: Sendable, Equatable {
    case connecting
    /// It cannot continue now and retries by itself. The text gives the reason for a person; it contains no
    /// secrets.
    case waiting(String)
    /// The table is being copied.
    case copying
    /// Changes arrive as they are committed.
    case following
    /// A person must act first; the text says what is wrong and contains the SQL. It is checked again from
    /// time to time.
    case failed(String)
}

/// The progress of a feed.
public struct FeedStatus: Sendable, Equatable {
    public internal(set) var state = FeedState.connecting
    /// The position up to which changes are confirmed.
    public internal(set) var confirmed: FeedPosition?
    /// The end of the server's log when the server last reported it.
    public internal(set) var serverPosition: LogPosition?
    /// The number of bytes of log between the confirmed position and the server's end; nil if unknown.
    public internal(set) var lagBytes: Int64?
    /// How long ago the oldest unconfirmed transaction was committed, or how long changes have not been
    /// followed, in milliseconds; 0 if changes are followed and everything is confirmed.
    public internal(set) var lagMilliseconds: Int64?
    /// Counters since the feed was created.
    public internal(set) var counters = FeedCounters()
}

/// What a feed has done since it was created.
public struct FeedCounters: Sendable, Equatable {
    public internal(set) var connections = 0
    /// How often the catalog was looked at while the table was followed.
    public internal(set) var catalogChecks = 0
    public internal(set) var copies = 0
    public internal(set) var copiedRows = 0
    public internal(set) var transactions = 0
    public internal(set) var changes = 0
    /// Bytes of transactions written to the spool.
    public internal(set) var spooledBytes = 0
    public internal(set) var receivedBytes = 0
}
