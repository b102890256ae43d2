// SPDX-License-Identifier: MIT
import Dispatch
import ImageStore
import Synchronization
import SystemSupport

/// The state that all sources of one registry share.
package final class SharedState: Sendable {
    package let limits: SourceLimits
    package let filters: FilterCache
    /// How often a requested hull was cached.
    package let hullUses = OutcomeCounts()
    package let memory: MemoryBudget
    /// The memory of images' pages.
    package let pages = PageMemory()
    /// How often an update was applied in place, and how often it clustered everything again.
    package let updates = OutcomeCounts()
    /// Where sources are stored; nil if they are only in memory.
    package let directory: StateDirectory?
    /// Called with events about the sources' files that belong to no call.
    package let report: @Sendable (StateEvent) -> Void
    /// Verifies checksums of text that nobody has read yet, one source after another.
    package let checks = DispatchQueue(label: "checks", qos: .utility)
    /// Undoes what failed calls have left. It does not wait for `checks`, which may take minutes.
    package let undoing = DispatchQueue(label: "undoing", qos: .utility)
    /// Called before a start reads a source's files, on the thread that reads; for tests.
    package let beforeReading = Mutex<(@Sendable (SourceName) -> Void)?>(nil)
    /// The number of sources that are still being read.
    package let readingCount = Atomic<Int>(0)
    /// Lets one source at a time be clustered for a snapshot. Nobody waits for that, so it should not take
    /// more memory and cores.
    let rebuilding = FairLock()
    /// Lets one build at a time take work memory beyond the limit of the sources.
    let shortBuilds = FairLock()
    /// The clock that measures features' ages.
    let clock = ExpiryClock()
    /// When files that the machine could not read were last retried.
    let lastRetry = Mutex<ContinuousClock.Instant?>(nil)
    private let lastRevision = Atomic<UInt64>(0)

    package init(
        limits: SourceLimits, directory: StateDirectory? = nil,
        report: @escaping @Sendable (StateEvent) -> Void = { _ in }
    ) {
        self.directory = directory
        self.report = report
        self.limits = limits
        memory = MemoryBudget(limits.memory, filterBytes: limits.filterCacheBytes)
        filters = FilterCache(budget: limits.filterCacheBytes)
        memory.give(
            evictFilters: { [weak filters] in filters?.makeRoom($0) ?? false },
            fitPages: { [weak memory, pages] in if let memory { pages.limit = memory.roomForPages } })
        memory.fitPages()
    }

    /// Draws a number above all earlier ones.
    ///
    /// All sources share one counter, so that the revision number of a deleted source is never used
    /// again for a new source of the same name.
    package func nextRevision() -> UInt64 { lastRevision.add(1, ordering: .relaxed).newValue }

    /// The last number drawn.
    package var newestRevision: UInt64 { lastRevision.load(ordering: .relaxed) }

    /// Continues the numbers above one that was drawn before the daemon restarted.
    package func raiseRevision(to number: UInt64) { _ = lastRevision.max(number, ordering: .relaxed) }
}
