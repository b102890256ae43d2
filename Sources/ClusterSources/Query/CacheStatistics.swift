// SPDX-License-Identifier: MIT
/// What a registry's caches have done.
public struct CacheStatistics: Sendable, Equatable {
    public var hits: Int
    public var misses: Int
    /// What the cache holds; nil where that counts as its sources' memory.
    public var bytes: Int?
}

extension SourceRegistry {
    /// The indexes of filtered features, and how large clusters' hulls were found.
    public var caches: (filters: CacheStatistics, hulls: CacheStatistics) {
        let filters = shared.filteredViews.uses
        let hulls = shared.hullUses.counts
        return (
            CacheStatistics(hits: filters.hits, misses: filters.misses, bytes: shared.filteredViews.bytes),
            CacheStatistics(hits: hulls.yes, misses: hulls.no, bytes: nil)
        )
    }
}
