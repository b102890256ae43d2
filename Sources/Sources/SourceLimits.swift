// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// What the sources together may take. The server fills it from its own table of limits.
public struct SourceLimits: Sendable {
    /// Bytes that indexes of filtered features, and the columns that filters read, may hold, over all sources.
    public var filterCacheBytes: Int
    /// Threads that one build may use.
    public var buildThreads: Int
    /// Changed features and clusters that a source keeps beside what was built as a whole, before it works
    /// them in: at most so many, and fewer for small sources.
    public var changesKept = 131_072
    /// Bytes of features' text, read from snapshots, that are kept for the next reader, over all sources.
    public var textCacheBytes: Int
    /// Features' text that is shorter stays in memory even if a snapshot has it.
    package var textInMemory = 1 << 20
    /// Longer text goes to a file while it is gathered, if its source is kept.
    package var textGathered = 1 << 26
    /// What the sources themselves may hold.
    public var memory: MemoryBudget.Limit

    public init(
        filterCacheBytes: Int, textCacheBytes: Int = 1 << 28, buildThreads: Int,
        memory: MemoryBudget.Limit = MemoryBudget.Limit()
    ) {
        self.memory = memory
        self.textCacheBytes = textCacheBytes
        self.filterCacheBytes = filterCacheBytes
        self.buildThreads = buildThreads
    }
}
