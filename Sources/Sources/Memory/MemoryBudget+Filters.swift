// SPDX-License-Identifier: MIT
import Synchronization

extension MemoryBudget {
    /// Bytes that filters hold: cached views and columns, views that are in use, and what builds of views take.
    package var filterHeldBytes: Int { state.withLock { $0.filters } }

    /// Sets the function that takes at least so many bytes back from the cache of filters, and returns whether it took any.
    package func takeRoom(from cache: @escaping @Sendable (Int) -> Bool) {
        state.withLock { $0.makeRoom = cache }
    }

    func makeRoom(_ bytes: Int) -> Bool { state.withLock { $0.makeRoom }(bytes) }

    func addToFilters(_ more: Int) { state.withLock { $0.filters += more } }

    /// Counts bytes that a filter is about to take. What the cache has used least is evicted for it if need be.
    ///
    /// Filters may hold `filterBytes`. If the sources have a limit, filters may also hold half of what is free of it. The
    /// other half is left to imports, so all together stay within the sum of the limit and `filterBytes`.
    ///
    /// - Complexity: O(sources) if there is a limit.
    func takeForFilters(_ more: Int) throws(SourceError) {
        while true {
            let most = mostFilterBytes
            let missing = state.withLock { state in
                let missing = most.map { max(0, state.filters + more - $0) } ?? 0
                if missing == 0 { state.filters += more }
                return missing
            }
            if missing == 0 { return }
            guard makeRoom(missing) else {
                throw .tooLarge(
                    "this filter takes about \(more >> 20) MiB more, \(missing >> 20) MiB more than filters may hold now (limits.filterCacheBytes, and half of what is free of limits.memoryBytes); ask again later, filter fewer features, or raise one of the limits"
                )
            }
        }
    }

    /// Nil if there is no limit.
    private var mostFilterBytes: Int? {
        let (limit, claimed, sources) = state.withLock { ($0.limit.bytes, $0.claimed, $0.sources) }
        guard limit > 0 else { return nil }
        let held = sources().reduce(claimed) { $0 + $1.revision.memoryBytes }
        return filterBytes + max(0, limit - held) / 2
    }
}
