// SPDX-License-Identifier: MIT
import SystemSupport

/// Statistics of a registry's cache.
public struct CacheStatistics: Sendable, Equatable {
    public var hits: Int
    public var misses: Int
    /// Bytes that the cache holds; nil if they count as its sources' memory.
    public var bytes: Int?
}

extension SourceRegistry {
    /// Statistics of the caches of filters' views, of the columns that filters read, and of large clusters' hulls.
    public var caches: (filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics) {
        let hulls = shared.hullUses.counts
        return (
            shared.filters.viewStatistics, shared.filters.columnStatistics,
            CacheStatistics(hits: hulls.yes, misses: hulls.no, bytes: nil)
        )
    }
}
