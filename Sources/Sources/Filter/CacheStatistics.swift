// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

/// What a registry's caches have done.
public struct CacheStatistics: Sendable, Equatable {
    public var hits: Int
    public var misses: Int
    /// What the cache holds; nil if that counts as its sources' memory.
    public var bytes: Int?
}

extension SourceRegistry {
    /// The indexes of filtered features, the columns that filters read, and how large clusters' hulls were found.
    public var caches: (filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics) {
        let hulls = shared.hullUses.counts
        return (
            shared.filters.viewStatistics, shared.filters.columnStatistics,
            CacheStatistics(hits: hulls.yes, misses: hulls.no, bytes: nil)
        )
    }
}
