// SPDX-License-Identifier: MIT
import Synchronization

/// The number of a source's current revision. Holding this object does not keep the source's data in
/// memory. Safe from any thread.
package final class CurrentRevision: Sendable {
    /// 0 if the source has no data, was deleted, or cannot be read.
    private let number: Atomic<UInt64>

    init(_ number: UInt64) { self.number = Atomic(number) }

    func set(_ number: UInt64) { self.number.store(number, ordering: .releasing) }

    /// Whether there is no current revision: the source has no data yet, was deleted, or cannot be read.
    package var isNone: Bool { number.load(ordering: .acquiring) == 0 }

    /// Whether a revision is still the current one. Always false for revision 0, that of sources without data.
    package func isStill(_ revision: UInt64) -> Bool {
        revision > 0 && number.load(ordering: .acquiring) == revision
    }
}
