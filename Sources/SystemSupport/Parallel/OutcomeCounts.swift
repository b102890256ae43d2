// SPDX-License-Identifier: MIT
import Synchronization

/// Counts two outcomes of something. Safe from any thread.
package final class OutcomeCounts: Sendable {
    private let yes = Atomic<Int>(0)
    private let no = Atomic<Int>(0)

    package init() {}

    package func count(_ outcome: Bool) {
        if outcome { yes.add(1, ordering: .relaxed) } else { no.add(1, ordering: .relaxed) }
    }

    package var counts: (yes: Int, no: Int) { (yes.load(ordering: .relaxed), no.load(ordering: .relaxed)) }
}
