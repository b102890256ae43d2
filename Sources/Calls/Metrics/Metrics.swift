// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization

/// What the server has done since it began. Safe from any thread.
public final class Metrics: Sendable {
    /// One method's calls.
    public struct Method: Sendable {
        public var calls: UInt64 = 0
        /// By status name, but for OK.
        public var errors: [String: UInt64] = [:]
        public var latency = LatencyHistogram()
    }

    public struct Counters: Sendable {
        public var methods: [String: Method] = [:]
        public var connectionsOpened: UInt64 = 0
        public var connections = 0
        public var callsInFlight = 0
        public var bytesReceived: UInt64 = 0
        public var bytesSent: UInt64 = 0
        public var bytesQueued = 0
        public var protocolErrors: UInt64 = 0
        public var queued = QueueDepths()
    }

    /// What waits for a thread of the pool.
    public struct QueueDepths: Sendable {
        /// Long queries.
        public var queries = 0
        /// Imports, builds and other changes.
        public var changes = 0
        /// Large messages that are to be read.
        public var messages = 0

        package init(queries: Int = 0, changes: Int = 0, messages: Int = 0) {
            self.queries = queries
            self.changes = changes
            self.messages = messages
        }
    }

    private let shards = Mutex<[Shard]>([])

    public init() {}

    /// A part for one loop, so that loops do not wait for each other to count.
    package func shard() -> Shard {
        let shard = Shard()
        shards.withLock { $0.append(shard) }
        return shard
    }

    /// Everything that the parts have counted.
    public var counters: Counters {
        var sum = Counters()
        for shard in shards.withLock({ $0 }) { sum.add(shard.counters) }
        return sum
    }

    /// What changes too often to be counted under a lock; only the loop's thread writes.
    package final class Traffic: Sendable {
        package let received = Atomic<UInt64>(0)
        package let sent = Atomic<UInt64>(0)
        package let calls = Atomic<Int>(0)
    }

    /// What one loop counts. Safe from any thread.
    package final class Shard: Sendable {
        private struct State {
            /// All but the methods.
            var counters = Counters()
            var methods: [Method] = []
            var places: [String: Int] = [:]
            /// Mostly a call is of the same method as the one before.
            var last: (name: String, place: Int)?

            mutating func place(of name: String) -> Int {
                if let last, last.name == name { return last.place }
                let place = places[name] ?? methods.count
                if place == methods.count {
                    methods.append(Method())
                    places[name] = place
                }
                last = (name, place)
                return place
            }
        }

        private let state = Mutex(State())
        package let traffic = Traffic()

        package var counters: Counters {
            state.withLock { state in
                var counters = state.counters
                counters.methods = state.places.mapValues { state.methods[$0] }
                counters.bytesReceived = traffic.received.load(ordering: .relaxed)
                counters.bytesSent = traffic.sent.load(ordering: .relaxed)
                counters.callsInFlight = traffic.calls.load(ordering: .relaxed)
                return counters
            }
        }

        package func update(_ body: (inout Counters) -> Void) { state.withLock { body(&$0.counters) } }

        /// Counts a call that is over.
        package func record(_ method: String, _ status: StatusCode, nanoseconds: UInt64) {
            state.withLock { state in
                let place = state.place(of: method)
                state.methods[place].count(status, nanoseconds)
            }
        }
    }
}

extension Metrics.Counters {
    mutating func add(_ other: Metrics.Counters) {
        for (name, method) in other.methods { methods[name, default: Metrics.Method()].add(method) }
        connectionsOpened += other.connectionsOpened
        connections += other.connections
        callsInFlight += other.callsInFlight
        bytesReceived += other.bytesReceived
        bytesSent += other.bytesSent
        // Each loop tells what it saw of all loops' bytes.
        bytesQueued = max(bytesQueued, other.bytesQueued)
        protocolErrors += other.protocolErrors
        queued.queries += other.queued.queries
        queued.changes += other.queued.changes
        queued.messages += other.queued.messages
    }
}

extension Metrics.Method {
    fileprivate mutating func add(_ other: Metrics.Method) {
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
