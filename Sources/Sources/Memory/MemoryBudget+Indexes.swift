// SPDX-License-Identifier: MIT
import Synchronization

/// What `IndexPlacement` asks.
extension MemoryBudget {
    /// Whether the sources may hold so many bytes more, also while a recovery runs. Room that filters hold beyond their own is taken back
    /// from their cache first. O(sources) if there is a limit.
    func hasRoom(for more: Int) -> Bool {
        while true {
            let (limit, sources) = state.withLock { ($0.limit.bytes, $0.sources) }
            guard limit > 0 else { return true }
            let held = sources().reduce(0) { $0 + $1.revision.memoryBytes }
            let (claimed, borrowed) = state.withLock { ($0.claimed, max(0, $0.filters - filterBytes)) }
            if held + claimed + borrowed + more <= limit { return true }
            guard borrowed > 0, makeRoom(borrowed) else { return false }
        }
    }

    /// Throws if the machine does not have so much memory to spare. For memory beyond the limit of the sources.
    func checkMachine(_ more: Int) throws(SourceError) {
        guard let available = machine(), state.withLock({ $0.recoveries == 0 }),
            more > available - min(Self.reserve, available / 4)
        else { return }
        throw .tooLarge(
            "the build takes about \(more >> 20) MiB beyond limits.memoryBytes, and the machine has only \(available >> 20) MiB available; delete sources, import less, or end other programs"
        )
    }
}
