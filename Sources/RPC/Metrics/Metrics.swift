// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization
import SystemSupport

/// Counts what the server has done since it began. Safe from any thread.
public final class Metrics: Sendable {
    /// One method's calls.
    public struct MethodCounters: Sendable {
        public var calls: UInt64 = 0
        /// Calls that failed, by status name.
        public var errors: [String: UInt64] = [:]
        public var latency = LatencyHistogram()
    }

    public struct Counters: Sendable {
        public var methods: [String: MethodCounters] = [:]
        public var connectionsOpened: UInt64 = 0
        /// Connections closed because the client did not read or did not complete a message.
        public var connectionsStalled: UInt64 = 0
        public var connections = 0
        public var callsInFlight = 0
        public var bytesReceived: UInt64 = 0
        public var bytesSent: UInt64 = 0
        public var bytesQueued = 0
        public var bytesInput = 0
        public var protocolErrors: UInt64 = 0
        /// The time that loops have spent polling their sockets instead of sleeping.
        public var pollingNanoseconds: UInt64 = 0
        public var queued = QueueDepths()
        /// Calls that have ended, in the order of `WireProtocol.allCases`.
        public var callsByProtocol = [UInt64](repeating: 0, count: WireProtocol.allCases.count)
    }

    /// Jobs that wait for a pool thread.
    public struct QueueDepths: Sendable {
        /// Long queries.
        public var queries = 0
        /// Imports, builds and other changes.
        public var changes = 0
        /// Large messages.
        public var messages = 0

        package init(queries: Int = 0, changes: Int = 0, messages: Int = 0) {
            self.queries = queries
            self.changes = changes
            self.messages = messages
        }
    }

    private let shards = Mutex<[Shard]>([])

    /// What the transports add.
    let ofTransports: [Metric]

    package init(transports: [Metric] = []) { ofTransports = transports }

    /// Adds a shard for one loop, so that loops do not contend when they count.
    ///
    /// - Parameter methods: the methods' full names, by index.
    package func shard(_ methods: [String]) -> Shard {
        let shard = Shard(methods)
        shards.withLock { $0.append(shard) }
        return shard
    }

    /// The sum of all shards.
    public var counters: Counters {
        var sum = Counters()
        for shard in shards.withLock({ $0 }) { shard.add(to: &sum) }
        return sum
    }

    /// Counters that change too often for a lock; only the loop's thread writes them.
    package final class Traffic: Sendable {
        package let received = Atomic<UInt64>(0)
        package let sent = Atomic<UInt64>(0)
        package let calls = Atomic<Int>(0)
    }

    /// The counters of one loop. Safe from any thread.
    package final class Shard: Sendable {
        private struct State {
            /// All counters except those of methods.
            var counters = Counters()
            var methods: [MethodCounters]
        }

        private let names: [String]
        private let state: Mutex<State>
        package let traffic = Traffic()

        fileprivate init(_ names: [String]) {
            self.names = names
            state = Mutex(State(methods: Array(repeating: MethodCounters(), count: names.count)))
        }

        /// Adds the counters of this loop. They are added under the lock: the loop would copy what is still being read
        /// outside of it.
        fileprivate func add(to sum: inout Counters) {
            state.withLock { state in
                sum.add(state.counters)
                for (name, method) in zip(names, state.methods) where method.calls > 0 {
                    sum.methods[name, default: MethodCounters()].add(method)
                }
            }
            sum.bytesReceived += traffic.received.load(ordering: .relaxed)
            sum.bytesSent += traffic.sent.load(ordering: .relaxed)
            sum.callsInFlight += traffic.calls.load(ordering: .relaxed)
        }

        package func update(_ body: (inout Counters) -> Void) { state.withLock { body(&$0.counters) } }

        /// Counts a call that has ended.
        ///
        /// - Parameter method: the method's index.
        package func record(_ method: Int, over wire: WireProtocol, _ status: StatusCode, nanoseconds: UInt64) {
            state.withLock { state in
                state.methods[method].count(status, nanoseconds)
                state.counters.callsByProtocol[wire.rawValue] += 1
            }
        }
    }
}

extension Metrics.Counters {
    /// Adds what a loop counts itself: all but its methods and its traffic.
    fileprivate mutating func add(_ other: Metrics.Counters) {
        connectionsOpened += other.connectionsOpened
        connectionsStalled += other.connectionsStalled
        connections += other.connections
        // Each loop reports the value for all loops.
        bytesQueued = max(bytesQueued, other.bytesQueued)
        bytesInput = max(bytesInput, other.bytesInput)
        protocolErrors += other.protocolErrors
        pollingNanoseconds += other.pollingNanoseconds
        for index in callsByProtocol.indices { callsByProtocol[index] += other.callsByProtocol[index] }
        queued.queries = max(queued.queries, other.queued.queries)
        queued.changes = max(queued.changes, other.queued.changes)
        queued.messages = max(queued.messages, other.queued.messages)
    }
}

extension Metrics.MethodCounters {
    fileprivate mutating func add(_ other: Metrics.MethodCounters) {
        calls += other.calls
        latency.add(other.latency)
        for (status, count) in other.errors { errors[status, default: 0] += count }
    }

    fileprivate mutating func count(_ status: StatusCode, _ nanoseconds: UInt64) {
        calls += 1
        latency.record(nanoseconds)
        if status != .ok { errors[status.name, default: 0] += 1 }
    }
}

/// What carries calls and their answers, for counting.
public enum WireProtocol: Int, Sendable, CaseIterable {
    case frames, http, connect, grpc
}
