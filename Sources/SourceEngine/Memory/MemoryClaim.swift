// SPDX-License-Identifier: MIT
import Synchronization

/// Bytes that an import or a build holds or is about to allocate. Released with the last reference.
package final class MemoryClaim: Sendable {
    package enum Kind: Sendable {
        /// The memory is allocated bit by bit, just after each claim.
        case gathered
        /// The memory is allocated while the claim is held.
        case ahead
        /// As `ahead`, but counted only towards the system's limit, not the limits of sources.
        case uncounted
        /// As `ahead`, but counted as filters' memory.
        case filter
        /// Filters' memory that is allocated already.
        case filterKept

        var isAhead: Bool { self == .ahead || self == .uncounted || self == .filter }
        var isCounted: Bool { self == .gathered || self == .ahead }
        var isFilters: Bool { self == .filter || self == .filterKept }
    }

    private let budget: MemoryBudget
    private let owner: UInt32?
    private let kind: Kind
    private let held = Mutex((memory: 0, file: 0))

    /// The least growth of a claim in bytes, so that claims are rare.
    private static let step = 1 << 20

    /// `MemoryBudget.claim` makes claims.
    init(_ budget: MemoryBudget, _ owner: UInt32?, _ kind: Kind) {
        self.budget = budget
        self.owner = owner
        self.kind = kind
    }

    /// Raises the claim to `count` bytes, or throws `tooLarge` and leaves it unchanged.
    ///
    /// - Parameters:
    ///   - count: of memory.
    ///   - file: of text in files.
    package func grow(to count: Int, file: Int = 0) throws(SourceError) {
        let held = held.withLock { $0 }
        guard count > held.memory || file > held.file else { return }
        let more = count > held.memory ? max(count - held.memory, min(Self.step, count)) : 0
        let moreText = max(0, file - held.file)
        if more > 0 { try budget.checkSystem(more, kind) }
        if kind.isCounted {
            try budget.take(more, file: moreText, owner)
            if more > 0 { budget.fitPages() }
        }
        if kind.isFilters { try budget.takeForFilters(more) }
        if kind.isAhead { budget.addAhead(more) }
        self.held.withLock { $0 = (held.memory + more, held.file + moreText) }
    }

    /// A claim of its own for filters' memory that is allocated by now. This claim gives up as much.
    package func kept(_ count: Int) -> MemoryClaim {
        let moved = held.withLock { held in
            let moved = min(count, held.memory)
            held.memory -= moved
            return moved
        }
        budget.addAhead(-moved)
        budget.addToFilters(count - moved)
        let kept = MemoryClaim(budget, owner, .filterKept)
        kept.held.withLock { $0.memory = count }
        return kept
    }

    deinit {
        let held = held.withLock { $0 }
        guard held.memory > 0 || held.file > 0 else { return }
        if kind.isCounted { try? budget.take(-held.memory, file: -held.file, owner) }
        if kind.isFilters { budget.addToFilters(-held.memory) }
        if kind.isAhead { budget.addAhead(-held.memory) }
    }
}
