// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of all loops take together. Safe from any thread; limits that two loops look at in
/// the same moment may be passed by one.
final class ServerLoad: Sendable {
    let budget: QueueBudget
    let users = UserTable()
    private let connections = Atomic<Int>(0)
    private let calls = Atomic<Int>(0)
    private let inputBytes = Atomic<Int>(0)

    init(limits: Limits) { budget = QueueBudget(limit: limits.maxQueuedBytes) }

    var openConnections: Int { connections.load(ordering: .relaxed) }
    func addConnections(_ count: Int) { connections.add(count, ordering: .relaxed) }

    var callsInFlight: Int { calls.load(ordering: .relaxed) }
    func addCalls(_ count: Int) { calls.add(count, ordering: .relaxed) }

    /// Bytes of messages that are not whole yet.
    var heldInputBytes: Int { inputBytes.load(ordering: .relaxed) }
    func addInputBytes(_ count: Int) { inputBytes.add(count, ordering: .relaxed) }
}
