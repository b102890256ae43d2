// SPDX-License-Identifier: MIT

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
