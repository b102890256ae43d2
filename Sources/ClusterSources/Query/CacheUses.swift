// SPDX-License-Identifier: MIT
import Synchronization

/// How often something kept was there when asked for, and how often not. Safe from any thread.
final class CacheUses: Sendable {
    private let hits = Atomic<Int>(0)
    private let misses = Atomic<Int>(0)

    func count(hit isHit: Bool) {
        if isHit { hits.add(1, ordering: .relaxed) } else { misses.add(1, ordering: .relaxed) }
    }

    var counts: (hits: Int, misses: Int) {
        (hits.load(ordering: .relaxed), misses.load(ordering: .relaxed))
    }
}

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
            CacheStatistics(hits: hulls.hits, misses: hulls.misses, bytes: nil)
        )
    }
}
