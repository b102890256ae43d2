// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of all loops take together. Safe from any thread; limits that two loops look at in
/// the same moment may be passed by one.
package final class ServerLoad: Sendable {
    package let unread: UnreadBudget
    package let input = InputBudget(.messages)
    package let streams = InputBudget(.streams)
    package let users = UserTable()
    /// Calls that read sources.
    package let queries: PoolQueue
    /// Calls that change sources, which may take long.
    package let changes: PoolQueue
    /// Large messages that are being read.
    package let reading: PoolQueue
    private let connections = Atomic<Int>(0)
    private let calls = Atomic<Int>(0)

    package init(limits: Limits) {
        let unread = UnreadBudget(limit: limits.maxQueuedBytes)
        self.unread = unread
        // As many threads again as a user may have, so that one user's long queries leave another as many as when it is
        // alone; of changes one more, so that nobody waits for another user's change to end.
        queries = PoolQueue(
            jobs: 2 * limits.queryThreads, jobsPerUser: limits.queryThreads,
            jobsPerLane: max(1, limits.queryThreads - 1)
        ) { !unread.isSpent(for: $0) }
        changes = PoolQueue(
            jobs: limits.changeThreads + 1, jobsPerUser: limits.changeThreads,
            jobsPerLane: max(1, limits.changeThreads / 2))
        reading = PoolQueue(
            jobs: limits.queryThreads + 1, jobsPerUser: limits.queryThreads, jobsPerLane: 1
        ) { $0.reading < Self.mostReading }
    }

    /// While a user's large messages take so much memory, no further one of the user is read.
    private static let mostReading = 32 << 20

    /// How many threads of the pool all queues use at most.
    package static func poolThreads(_ limits: Limits) -> Int {
        2 * limits.queryThreads + limits.queryThreads + 1 + limits.changeThreads + 1
    }

    package var openConnections: Int { connections.load(ordering: .relaxed) }
    package func addConnections(_ count: Int) { connections.add(count, ordering: .relaxed) }

    package var callsInFlight: Int { calls.load(ordering: .relaxed) }
    package func addCalls(_ count: Int) { calls.add(count, ordering: .relaxed) }
}
