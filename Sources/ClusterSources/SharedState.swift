// SPDX-License-Identifier: MIT
import Synchronization

/// What the sources of one registry share.
final class SharedState: Sendable {
    let limits: SourceLimits
    let filteredViews: FilteredViewCache
    let memory: MemoryBudget
    /// How updates of single features were done.
    let updates = UpdateCounts()
    private let lastRevision = Atomic<UInt64>(0)

    init(limits: SourceLimits) {
        self.limits = limits
        memory = MemoryBudget(limits.memory)
        filteredViews = FilteredViewCache(budget: limits.filterCacheBytes)
    }

    /// A number above all before.
    ///
    /// All sources draw from one counter, so that the number of a deleted source's data never comes
    /// again for another source of the same name.
    func nextRevision() -> UInt64 {
        lastRevision.add(1, ordering: .relaxed).newValue
    }
}
