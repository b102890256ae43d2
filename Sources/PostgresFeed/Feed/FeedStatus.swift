// SPDX-License-Identifier: MIT
import ReplicationLog

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
