// SPDX-License-Identifier: MIT
import SystemSupport
import Synchronization

/// Tells jobs that fill sources to stop, because the daemon ends. Safe from any thread.
final class FillingEnd: Sendable {
    private let state = Atomic<Bool>(false)

    var isEnding: Bool { state.load(ordering: .relaxed) }

    func begin() { state.store(true, ordering: .relaxed) }

    var cancellation: Cancellation { Cancellation { self.isEnding } }
}
