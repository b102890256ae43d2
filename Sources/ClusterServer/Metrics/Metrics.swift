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
    }

    private let state = Mutex(Counters())

    public init() {}

    public var counters: Counters { state.withLock { $0 } }

    func update(_ body: (inout Counters) -> Void) { state.withLock { body(&$0) } }

    /// Counts a call that is over.
    func record(_ method: String, _ status: StatusCode, nanoseconds: UInt64) {
        state.withLock { counters in
            counters.methods[method, default: Method()].count(status, nanoseconds)
        }
    }
}

extension Metrics.Method {
    fileprivate mutating func count(_ status: StatusCode, _ nanoseconds: UInt64) {
        calls += 1
        latency.record(nanoseconds)
        if status != .ok { errors[status.name, default: 0] += 1 }
    }
}
