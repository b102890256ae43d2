// SPDX-License-Identifier: MIT

/// Limits that all sources share. The server fills them from its table of limits.
public struct SourceLimits: Sendable {
    /// The most bytes that the indexes and columns of filters may hold, over all sources.
    public var filterCacheBytes: Int
    /// The most threads that one build may use.
    public var buildThreads: Int
    /// The most changed features and clusters in a source's delta before it is
    /// compacted. Small sources compact earlier. Those of which only the clusters are made again compact later.
    public var changesKept = 131_072
    /// Of this many features and more a compaction makes only the clusters again, if possible.
    package var leastClusteredAlone = 1 << 16
    /// Snapshots of this many features and more have the numbers by which watchers know them.
    package var leastWithCodes = 1 << 20
    /// Text shorter than this many bytes stays in memory after a change.
    package var textInMemory = 1 << 20
    /// Data whose changes take longer than this to replay, in milliseconds, are kept by a new snapshot.
    /// Writing one of a large source takes about a second.
    package var longestReplay = 5000.0
    /// The same for a snapshot that is a minute old.
    package var longReplay = 300.0
    /// A checkpoint is written once updates have clustered for longer than this since the last one, in milliseconds.
    package var longestClustering = 50.0
    /// An import writes text longer than this many bytes to a file while it reads, if the source has files.
    package var textGathered = 1 << 26
    /// A snapshot of fewer bytes is read as a whole.
    package var imageInMemory = 1 << 22
    /// Whether indexes are read from their snapshots even if there is room for all of them; for tests.
    package var evictsIndexes = false
    /// The most bytes that the sources themselves may hold.
    public var memory: MemoryBudget.Limit

    public init(filterCacheBytes: Int, buildThreads: Int, memory: MemoryBudget.Limit = MemoryBudget.Limit()) {
        self.memory = memory
        self.filterCacheBytes = filterCacheBytes
        self.buildThreads = buildThreads
    }
}
