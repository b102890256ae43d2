// SPDX-License-Identifier: MIT
import Synchronization

/// A flag that one thread raises and another lowers.
package final class Signal: Sendable {
    private let isRaised = Atomic<Bool>(false)

    /// Raises the flag and returns whether it was lowered before.
    package func raise() -> Bool { !isRaised.exchange(true, ordering: .acquiringAndReleasing) }

    package func lower() { isRaised.store(false, ordering: .sequentiallyConsistent) }
}
