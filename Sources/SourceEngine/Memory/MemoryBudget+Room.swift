// SPDX-License-Identifier: MIT
import Synchronization

/// Whether a build fits.
extension MemoryBudget {
    /// Whether the sources may hold so many bytes more, also while a recovery runs. Caches make room first. O(sources) if there is a
    /// limit.
    func hasRoom(for more: Int) -> Bool {
        while true {
            let held = heldBytes
            let missing = state.withLock {
                $0.excess(of: more, sources: held, reserved: reserved($0.limit.bytes))
            }
            guard missing > 0 else { return true }
            guard makeRoom(missing) else { return false }
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
