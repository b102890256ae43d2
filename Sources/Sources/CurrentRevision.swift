// SPDX-License-Identifier: MIT
import Synchronization

/// The number of the revision of a source that answers now. It is small, and may be kept without keeping the source's
/// data. Safe from any thread.
package final class CurrentRevision: Sendable {
    /// 0: nothing answers, since the source was deleted or its data cannot be read.
    private let number: Atomic<UInt64>

    init(_ number: UInt64) { self.number = Atomic(number) }

    func set(_ number: UInt64) { self.number.store(number, ordering: .releasing) }

    /// Whether no data answer: the source has none yet, was deleted, or its data cannot be read.
    package var isNone: Bool { number.load(ordering: .acquiring) == 0 }

    /// Whether a revision still answers. Never so for revision 0, that of sources without data.
    package func isStill(_ revision: UInt64) -> Bool {
        revision > 0 && number.load(ordering: .acquiring) == revision
    }
}
