// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Synchronization

/// The state that all calls of one loop share, whatever their transport. Used only on the loop's thread.
package final class CallEngine {
    package let loop: any CallLoop
    package private(set) var limits: Limits
    /// Who may do what. A change applies to later calls.
    package private(set) var access: AccessPolicy {
        didSet { hasRules = !access.rules.isEmpty }
    }
    /// Whether what callers see depends on who they are.
    package private(set) var hasRules: Bool
    package let methods: MethodSet
    /// What the connections of all loops use together.
    package let load: ServerLoad
    package let metrics: Metrics.Shard
    /// Notified of calls that are over.
    package var observer: (any CallObserver)? {
        didSet { interest = observer?.interest ?? CallInterest() }
    }
    private var interest = CallInterest()
    /// Whether new calls are rejected because the server is shutting down.
    package private(set) var isDraining = false
    /// Streams that want to send.
    let streams: Backlog
    /// Connections whose clients have sent more than is processed as it arrives, so that clients that send little
    /// at a time do not wait for them.
    package let connections: Backlog
    private var statisticsTimer: AnyObject?
    private var callsInFlight = 0 {
        didSet { metrics.traffic.calls.store(callsInFlight, ordering: .relaxed) }
    }

    package init(
        loop: any CallLoop, limits: Limits, access: AccessPolicy, metrics: Metrics.Shard, methods: MethodSet,
        load: ServerLoad
    ) {
        self.loop = loop
        self.limits = limits
        self.access = access
        hasRules = !access.rules.isEmpty
        self.metrics = metrics
        self.methods = methods
        self.load = load
        streams = Backlog(8, post: loop.post)
        connections = Backlog(1, post: loop.post)
        statisticsTimer = loop.timer(after: 200, every: 200) { [unowned self] in publish() }
    }

    /// Publishes frequently changing counts to other threads, a few times a second instead of for every call.
    package func publish() {
        let depths = Metrics.QueueDepths(
            queries: load.queries.depth, changes: load.changes.depth, messages: load.reading.depth)
        metrics.update { counters in
            counters.queued = depths
            counters.bytesQueued = load.unread.bytes
            counters.bytesInput = load.input.bytes
            counters.pollingNanoseconds = loop.pollingNanoseconds
        }
    }

    /// Applies settings that can change at run time.
    package func apply(limits: Limits, access: AccessPolicy) {
        self.limits = self.limits.taking(liveFrom: limits)
        self.access = access
    }

    /// The maximum number of connections of a peer's user; nil if it is unlimited. Administrators can connect as long
    /// as the server has room at all.
    package func mostConnections(of peer: Peer) -> Int? {
        let most = limits.maxConnectionsPerUser
        return most == 0 || access.right(of: peer) == .admin ? nil : most
    }

    package func beginDraining() { isDraining = true }

    /// Counts a call that is over.
    ///
    /// - Parameter answered: when its answer began, if that was earlier.
    func record(
        _ call: PendingCall, _ status: StatusCode, until answered: UInt64? = nil, changed: Int = 0
    ) {
        let method = call.method
        let taken = (answered ?? MonotonicClock.now()) - call.started
        metrics.record(method.index, over: call.encoder.wireProtocol, status, nanoseconds: taken)
        guard interest.covers(method, status, nanoseconds: taken) else { return }
        observer?.callEnded(
            EndedCall(
                request: call.request, method: method.declaration, caller: call.context.caller, rule: call.rule,
                status: status, nanoseconds: taken, changed: changed))
    }

    /// Counts a call that was not answered immediately.
    func callBegan(_ share: UserShare) {
        callsInFlight += 1
        load.addCalls(1)
        share.add(1, to: .calls)
    }

    func callEnded(_ share: UserShare) {
        callsInFlight -= 1
        load.addCalls(-1)
        share.add(-1, to: .calls)
    }

    /// The deadline of a call.
    func deadline(of request: CallRequest, from start: UInt64) -> UInt64? {
        var milliseconds = request.timeoutMilliseconds
        if limits.maxTimeoutMs > 0 { milliseconds = min(milliseconds ?? .max, Int64(limits.maxTimeoutMs)) }
        guard let milliseconds else { return nil }
        let (nanoseconds, overflow) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        if overflow { return nil }
        let (deadline, late) = start.addingReportingOverflow(nanoseconds)
        return late ? nil : deadline
    }
}

/// Receives calls that have ended, for the log. Safe from any thread; called on a loop's thread, so it must be quick.
package protocol CallObserver: Sendable {
    /// Which calls it receives.
    var interest: CallInterest { get }

    func callEnded(_ call: EndedCall)
}

/// A call that has ended.
package struct EndedCall: Sendable {
    package let request: CallRequest
    package let method: MethodDeclaration
    package let caller: Identity
    /// The index in `access.rules` of the rule that applied; nil if none did.
    package let rule: Int?
    package let status: StatusCode
    /// From the call's opening to its answer, or to the first item of a stream.
    package let nanoseconds: UInt64
    /// How many features it inserted, replaced or removed.
    package let changed: Int
}

/// Which ended calls an observer sees. All other calls cost it nothing.
package struct CallInterest: Sendable {
    /// Calls that took longer, in nanoseconds.
    private let longest: UInt64
    /// Whether it sees each call that was denied and each that changes sources.
    private let hasChanges: Bool

    package init(slowerThan longest: UInt64 = .max, changesAndDenials: Bool = false) {
        self.longest = longest
        hasChanges = changesAndDenials
    }

    func covers(_ method: Method, _ status: StatusCode, nanoseconds: UInt64) -> Bool {
        nanoseconds > longest || hasChanges && (method.declaration.isChange || status == .permissionDenied)
    }
}
