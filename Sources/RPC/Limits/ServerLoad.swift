// SPDX-License-Identifier: MIT
import Synchronization

/// What the connections of all loops use together. Safe from any thread. Two loops that check a limit at the same
/// moment may exceed it by one.
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
        // Twice the threads that one user may use, so that one user's long queries leave another user as many threads
        // as it has when alone. For changes one more, so that nobody waits for another user's change to end.
        queries = PoolQueue(
            jobs: 2 * limits.queryThreads, jobsPerUser: limits.queryThreads,
            jobsPerQueue: max(1, limits.queryThreads - 1)
        ) { unread.permitsQuery(of: $0, beside: $1) }
        changes = PoolQueue(
            jobs: limits.changeThreads + 1, jobsPerUser: limits.changeThreads,
            jobsPerQueue: max(1, limits.changeThreads / 2))
        reading = PoolQueue(
            jobs: limits.queryThreads + 1, jobsPerUser: limits.queryThreads, jobsPerQueue: 1
        ) { connection, _ in connection.share[.reading] < Self.mostReading }
        unread.setOnRoom { [weak queries] in queries?.retry() }
    }

    /// While a user's large messages use this much memory, no further large message of that user is read.
    private static let mostReading = 32 << 20

    /// The maximum number of pool threads that all queues use together.
    package static func poolThreads(_ limits: Limits) -> Int {
        2 * limits.queryThreads + limits.queryThreads + 1 + limits.changeThreads + 1
    }

    package var openConnections: Int { connections.load(ordering: .relaxed) }
    package func addConnections(_ count: Int) { connections.add(count, ordering: .relaxed) }

    /// Bytes of large params that calls have freed since the allocator's free memory was last given back to the system.
    private let freed = Atomic<Int>(0)

    /// Counts the params of a call that is over.
    ///
    /// - Returns: whether free memory is to be given back now: the allocator keeps that of small blocks, for each of
    ///   its arenas, and parsed params are many small blocks.
    package func hasFreedMuch(adding bytes: Int) -> Bool {
        guard bytes >= Self.largeParams else { return false }
        let total = freed.add(bytes, ordering: .relaxed).newValue
        let most = input.bytes < Self.largeParams ? Self.muchAtEnd : Self.much
        guard total >= most else { return false }
        return freed.compareExchange(expected: total, desired: 0, ordering: .relaxed).exchanged
    }

    private static let largeParams = 1 << 20
    private static let much = 64 << 20
    /// If no other params are held.
    private static let muchAtEnd = 8 << 20

    package var callsInFlight: Int { calls.load(ordering: .relaxed) }
    package func addCalls(_ count: Int) { calls.add(count, ordering: .relaxed) }
}
