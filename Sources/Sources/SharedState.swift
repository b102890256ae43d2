// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import SourceStorage
import Synchronization
import SystemSupport

/// What the sources of one registry share.
package final class SharedState: Sendable {
    package let limits: SourceLimits
    package let filters: FilterCache
    /// How often a hull was kept when asked for.
    package let hullUses = OutcomeCounts()
    package let memory: MemoryBudget
    /// Features' text that was read from files.
    package let texts: BlockCache
    /// How often updates could follow their changes; else everything was clustered again.
    package let updates = OutcomeCounts()
    /// Where sources are kept; nil: nowhere.
    package let directory: StateDirectory?
    /// Called with what happens to the sources' files outside calls.
    package let report: @Sendable (StateEvent) -> Void
    /// Compares checksums of text that nobody has read yet, one source after the other.
    package let checks = DispatchQueue(label: "checks", qos: .utility)
    /// Lets one source at a time be clustered for a snapshot: that takes memory and processors, and nobody waits for it.
    let rebuilding = FairLock()
    /// The clock that features' ages are measured by.
    let clock = ExpiryClock()
    /// When it was last tried to read files that the machine could not read.
    let lastRetry = Mutex<ContinuousClock.Instant?>(nil)
    private let lastRevision = Atomic<UInt64>(0)

    package init(
        limits: SourceLimits, directory: StateDirectory? = nil,
        report: @escaping @Sendable (StateEvent) -> Void = { _ in }
    ) {
        self.directory = directory
        self.report = report
        self.limits = limits
        memory = MemoryBudget(limits.memory)
        texts = BlockCache(bytes: limits.textCacheBytes)
        filters = FilterCache(budget: limits.filterCacheBytes)
    }

    /// A number above all before.
    ///
    /// All sources draw from one counter, so that the number of a deleted source's data never comes
    /// again for another source of the same name.
    package func nextRevision() -> UInt64 {
        lastRevision.add(1, ordering: .relaxed).newValue
    }

    /// The number drawn last.
    package var newestRevision: UInt64 { lastRevision.load(ordering: .relaxed) }

    /// Lets numbers go on above one that was drawn in an earlier life of the daemon.
    package func raiseRevision(to number: UInt64) {
        _ = lastRevision.max(number, ordering: .relaxed)
    }
}
