// SPDX-License-Identifier: MIT
import Synchronization

/// Counts a connection's full inboxes. The connection is not read while there are any, so an app that is slow to
/// consume a stream slows the server down instead of filling its own memory.
final class InboxGauge: Sendable {
    private let full = Atomic<Int>(0)
    private let hasRoom: @Sendable () -> Void

    /// - Parameter hasRoom: called when an inbox is no longer full.
    init(hasRoom: @escaping @Sendable () -> Void) { self.hasRoom = hasRoom }

    var anyIsFull: Bool { full.load(ordering: .sequentiallyConsistent) > 0 }

    func fills() { full.add(1, ordering: .sequentiallyConsistent) }
    func empties() { full.subtract(1, ordering: .sequentiallyConsistent) }
    func announceRoom() { hasRoom() }
}
