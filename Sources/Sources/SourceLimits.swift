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
    /// What the sources themselves may hold.
    public var memory: MemoryBudget.Limit

    public init(
        filterCacheBytes: Int, buildThreads: Int, memory: MemoryBudget.Limit = MemoryBudget.Limit()
    ) {
        self.memory = memory
        self.filterCacheBytes = filterCacheBytes
        self.buildThreads = buildThreads
    }
}
