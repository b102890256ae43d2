// SPDX-License-Identifier: MIT

/// Limits that all sources share. The server fills them from its table of limits.
public struct SourceLimits: Sendable {
    /// The most bytes that the indexes and columns of filters may hold, over all sources.
    public var filterCacheBytes: Int
    /// The most threads that one build may use.
    public var buildThreads: Int
    /// The most changed features and clusters in a source's delta before it is
    /// compacted. Small sources compact earlier.
    public var changesKept = 131_072
    /// The size of the cache of features' text from snapshots in bytes, over all sources.
    public var textCacheBytes: Int
    /// Snapshots of sources of at least this many points have an overview, from which a start answers low zooms while it
    /// reads the rest. 0: none.
    public var overviewPoints: Int
    /// The most nodes of a snapshot's overview.
    package var overviewNodes = OverviewSize.nodesOfSnapshot
    /// Text shorter than this many bytes stays in memory even if a snapshot contains it.
    package var textInMemory = 1 << 20
    /// Data whose changes take longer than this to replay, in milliseconds, are kept by a new snapshot. Writing one of a large
    /// source takes about a second.
    package var longestReplay = 5000.0
    /// The same for a snapshot that is a minute old.
    package var longReplay = 300.0
    /// An import writes text longer than this many bytes to a file while it reads, if the source has files.
    package var textGathered = 1 << 26
    /// An index of fewer bytes stays in memory, however short that is.
    package var indexInMemory = 1 << 22
    /// Columns of an index of fewer bytes stay in memory, also if the others lie in a file.
    package var columnInMemory = 1 << 16
    /// Whether indexes lie in files even if there is room in memory; for tests.
    package var mapsIndexes = false
    /// The most bytes that the sources themselves may hold.
    public var memory: MemoryBudget.Limit

    public init(
        filterCacheBytes: Int, textCacheBytes: Int = 1 << 28, buildThreads: Int,
        overviewPoints: Int = 1 << 22, memory: MemoryBudget.Limit = MemoryBudget.Limit()
    ) {
        self.memory = memory
        self.textCacheBytes = textCacheBytes
        self.filterCacheBytes = filterCacheBytes
        self.buildThreads = buildThreads
        self.overviewPoints = overviewPoints
    }
}
