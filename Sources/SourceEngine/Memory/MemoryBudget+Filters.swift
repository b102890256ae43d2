// SPDX-License-Identifier: MIT
import Synchronization

/// Filters and pages of images, which give way to sources.
extension MemoryBudget {
    /// Bytes that filters hold: cached views and columns, views that are in use, and what builds of views take.
    package var filterHeldBytes: Int { state.withLock { $0.filters } }

    /// Sets the function that frees at least so many bytes of cached filters and returns whether it freed
    /// any, and the one that fits pages of images into what is free.
    package func give(evictFilters: @escaping @Sendable (Int) -> Bool, fitPages: @escaping @Sendable () -> Void) {
        state.withLock { ($0.evictFilters, $0.fitPages) = (evictFilters, fitPages) }
    }

    /// Fits pages of images into what is free. To be called when something else has grown.
    func fitPages() { state.withLock { $0.fitPages }() }

    /// The bytes that pages of images may take. O(sources) if there is a limit.
    var roomForPages: Int {
        let held = heldBytes
        return state.withLock { $0.limit.bytes > 0 ? -$0.excess(of: 0, sources: held, reserved: 0) : .max }
    }

    /// What is kept of a limit for filters, so that they work beside sources that fill it.
    func reserved(_ limit: Int) -> Int { min(filterBytes, limit / Self.reservedShare) }

    private static let reservedShare = 8

    /// Frees up to so many bytes for sources; false if there is nothing to free.
    func makeRoom(_ bytes: Int) -> Bool {
        let (evictFilters, spare) = state.withLock { ($0.evictFilters, $0.filters - reserved($0.limit.bytes)) }
        return spare > 0 && evictFilters(min(bytes, spare))
    }

    func addToFilters(_ more: Int) { state.withLock { $0.filters += more } }

    /// What the sources' revisions hold; 0 if there is no limit. O(sources).
    var heldBytes: Int {
        let (limit, sources) = state.withLock { ($0.limit.bytes, $0.sources) }
        return limit > 0 ? sources().reduce(0) { $0 + $1.memory } : 0
    }

    /// Counts bytes that a filter is about to take. Filters that were used least, and pages of images, are
    /// evicted for it if need be.
    ///
    /// If there is a limit, filters may hold what the sources leave of it, but of that at most `filterBytes`
    /// and half: the rest is left to imports.
    ///
    /// - Complexity: O(sources) if there is a limit.
    func takeForFilters(_ more: Int) throws(SourceError) {
        while true {
            let held = heldBytes
            let (missing, evictFilters) = state.withLock { state in
                let missing = max(0, mostFilterBytes(state, sources: held).map { state.filters + more - $0 } ?? 0)
                if missing == 0 { state.filters += more }
                return (missing, state.evictFilters)
            }
            if missing == 0 { return fitPages() }
            if evictFilters(missing) { continue }
            throw .tooLarge(
                "this filter takes about \(more >> 20) MiB more, \(missing >> 20) MiB more than filters may hold now (limits.filterCacheBytes and half of what is free of limits.memoryBytes, and no more than is free); ask again later, filter fewer features, or raise one of the limits"
            )
        }
    }

    /// Nil if there is no limit.
    private func mostFilterBytes(_ state: State, sources: Int) -> Int? {
        guard state.limit.bytes > 0 else { return nil }
        let free = max(0, state.limit.bytes - sources - state.claimed)
        return max(reserved(state.limit.bytes), min(free, filterBytes + free / 2))
    }
}
