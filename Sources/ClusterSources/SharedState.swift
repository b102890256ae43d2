// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// What the sources of one registry share.
final class SharedState: Sendable {
    let limits: SourceLimits
    let filters: FilterCache
    /// How often a hull was kept when asked for.
    let hullUses = OutcomeCounts()
    let memory: MemoryBudget
    /// How often updates could follow their changes; else everything was clustered anew.
    let updates = OutcomeCounts()
    /// Where sources are kept; nil: nowhere.
    let directory: StateDirectory?
    /// Told what became of the sources' files beside calls.
    let report: @Sendable (StateEvent) -> Void
    /// Writes snapshots and compares checksums, one source after the other.
    let background = DispatchQueue(label: "snapshots", qos: .utility)
    private let lastRevision = Atomic<UInt64>(0)

    init(
        limits: SourceLimits, directory: StateDirectory? = nil,
        report: @escaping @Sendable (StateEvent) -> Void = { _ in }
    ) {
        self.directory = directory
        self.report = report
        self.limits = limits
        memory = MemoryBudget(limits.memory)
        filters = FilterCache(budget: limits.filterCacheBytes)
    }

    /// A number above all before.
    ///
    /// All sources draw from one counter, so that the number of a deleted source's data never comes
    /// again for another source of the same name.
    func nextRevision() -> UInt64 {
        lastRevision.add(1, ordering: .relaxed).newValue
    }

    /// The number drawn last.
    var newestRevision: UInt64 { lastRevision.load(ordering: .relaxed) }

    /// Lets numbers go on above one that was drawn in an earlier life of the daemon.
    func raiseRevision(to number: UInt64) {
        _ = lastRevision.max(number, ordering: .relaxed)
    }
}
