// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of all loops take together. Safe from any thread; limits that two loops look at in
/// the same moment may be passed by one.
package final class ServerLoad: Sendable {
    package let budget: QueueBudget
    package let users = UserTable()
    private let connections = Atomic<Int>(0)
    private let calls = Atomic<Int>(0)
    private let inputBytes = Atomic<Int>(0)

    package init(limits: Limits) { budget = QueueBudget(limit: limits.maxQueuedBytes) }

    package var openConnections: Int { connections.load(ordering: .relaxed) }
    package func addConnections(_ count: Int) { connections.add(count, ordering: .relaxed) }

    package var callsInFlight: Int { calls.load(ordering: .relaxed) }
    package func addCalls(_ count: Int) { calls.add(count, ordering: .relaxed) }

    /// Bytes of messages that are not whole yet.
    package var heldInputBytes: Int { inputBytes.load(ordering: .relaxed) }
    package func addInputBytes(_ count: Int) { inputBytes.add(count, ordering: .relaxed) }
}
