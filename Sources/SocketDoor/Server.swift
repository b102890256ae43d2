// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON
import Synchronization

/// The connections of one loop, calls to handlers. Belongs to the loop's thread.
package final class Server {
    package let loop: EventLoop
    private(set) var limits: Limits
    /// Who may do what; what changes holds for the next calls.
    private(set) var access: AccessPolicy
    let metrics: Metrics.Shard
    /// What all loops' connections take together.
    let load: ServerLoad
    /// What answers each method, by full name.
    private let handlers: MethodHandlers
    private var lastMethod: ServedMethod?
    let parser = JSONParser()
    let names = MethodNames()
    /// Calls that read sources: as many at once as there are cores, since their answers are held in memory.
    let queries: PoolQueue
    /// Calls that change sources, which may take long.
    let changes: PoolQueue
    /// Large messages that are being read.
    let reading: PoolQueue
    let streamTurns: StreamTurns
    let turnAnswers = TurnAnswers()
    private var turnEnd: TurnEnd?

    private let onGone: @Sendable () -> Void
    private let onDrained: @Sendable () -> Void
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var graceTimer: Timer?
    private var statisticsTimer: Timer?
    private var onStopped: (() -> Void)?
    /// No call is left, and connections close as soon as their answers are written.
    private var isEnding = false
    var bytesReceived: UInt64 = 0 {
        didSet { metrics.traffic.received.store(bytesReceived, ordering: .relaxed) }
    }
    var bytesSent: UInt64 = 0 {
        didSet { metrics.traffic.sent.store(bytesSent, ordering: .relaxed) }
    }
    private var callsInFlight = 0 {
        didSet { metrics.traffic.calls.store(callsInFlight, ordering: .relaxed) }
    }

    /// - Parameters:
    ///   - load: shared with the servers of other loops.
    ///   - onGone: called on the loop's thread for each connection that has closed.
    ///   - onDrained: called on the loop's thread while the server ends, once no call is in flight; then the
    ///     other servers are to look as well.
    package init(
        loop: EventLoop, limits: Limits, access: AccessPolicy, metrics: Metrics, handlers: MethodHandlers,
        load: ServerLoad, onGone: @escaping @Sendable () -> Void, onDrained: @escaping @Sendable () -> Void
    ) {
        self.loop = loop
        self.limits = limits
        self.access = access
        self.metrics = metrics.shard()
        self.handlers = handlers
        self.load = load
        self.onGone = onGone
        self.onDrained = onDrained
        streamTurns = StreamTurns(loop.remote)
        let readers = limits.queryThreadsPerLoop
        queries = PoolQueue(jobs: readers, jobsPerLane: max(1, readers - 1))
        let jobs = limits.changeThreadsPerLoop
        changes = PoolQueue(jobs: jobs, jobsPerLane: max(1, jobs / 2))
        reading = PoolQueue(jobs: readers, jobsPerLane: 1)
        turnEnd = TurnEnd(on: loop) { [unowned turnAnswers] in turnAnswers.work() }
        // Not weak: a weak reference makes every other reference slower for good. The timer ends with this.
        statisticsTimer = Timer(on: loop, delay: 200, every: 200) { [unowned self] in publish() }
        statisticsTimer?.unreference()
    }

    var isShuttingDown: Bool { onStopped != nil }

    var budget: QueueBudget { load.budget }

    /// Takes over what can change while the server serves: for connections that are open too.
    package func apply(limits: Limits, access: AccessPolicy) {
        self.limits = self.limits.taking(liveFrom: limits)
        self.access = access
        for connection in Array(connections.values) { connection.take(access.right(of: connection.peer)) }
    }

    /// Sees each call that is over.
    package var observer: (any CallObserver)?

    /// Counts a call that is over.
    ///
    /// - Parameter answered: when its answer began, where that was before now.
    func record(
        _ request: CallRequest, by peer: Peer, _ status: StatusCode, since started: UInt64,
        until answered: UInt64? = nil
    ) {
        let taken = (answered ?? MonotonicClock.now()) - started
        metrics.record(request.method, status, nanoseconds: taken)
        observer?.callEnded(request, by: peer, status, nanoseconds: taken)
    }

    /// Serves a client that the group's load counts already.
    package func accept(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        guard !isEnding, onStopped == nil else {
            socket.close()
            return gone()
        }
        let peer =
            socket.peer.map {
                Peer(
                    processID: $0.processID, userID: $0.userID, groupID: $0.groupID, groups: socket.peerGroups
                )
            } ?? .unknown
        guard let use = load.users.enter(peer.userID, most: mostConnections(of: peer)) else {
            return refuse(socket, "Too many connections of your user are open. Close some.")
        }
        let connection = ServerConnection(socket, peer: peer, use: use, server: self)
        connections[ObjectIdentifier(connection)] = connection
        metrics.update { counters in
            counters.connectionsOpened += 1
            counters.connections += 1
        }
        connection.start()
    }

    /// Administrators can always get in, as far as the server has room at all.
    private func mostConnections(of peer: Peer) -> Int? {
        let most = limits.maxConnectionsPerUser
        return most == 0 || access.right(of: peer) == .admin ? nil : most
    }

    /// Turns a client away that the group's load counts already.
    package func refuse(_ socket: AcceptedSocket, _ message: String) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        refuse(socket, message)
    }

    private func refuse(_ socket: Connection, _ message: String) {
        var bytes = ByteWriter()
        ServerMessage.write(error: RPCError(.resourceExhausted, message), id: nil, into: &bytes)
        _ = bytes.withUnsafeBytes { socket.tryWrite($0) }
        socket.close()
        gone()
    }

    private func gone() {
        load.addConnections(-1)
        onGone()
    }

    func remove(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        load.users.leave(connection.use)
        queries.clear(connection.queries)
        changes.clear(connection.changes)
        metrics.update { $0.connections -= 1 }
        gone()
        endIfDrained()
        finishIfDrained()
    }

    /// What answers a method: mostly the same as the call before.
    func served(_ method: String) -> ServedMethod? {
        if let lastMethod, lastMethod.name == method { return lastMethod }
        guard let handler = handlers[method] else { return nil }
        let served = ServedMethod(name: method, handler: handler)
        lastMethod = served
        return served
    }

    func kind(of method: String) -> MethodDescription.Kind? { served(method)?.kind }

    /// A call is open that was not answered at once.
    func callBegan(_ use: UserUse) {
        callsInFlight += 1
        load.addCalls(1)
        use.addCalls(1)
    }

    func callEnded(_ use: UserUse) {
        callsInFlight -= 1
        load.addCalls(-1)
        use.addCalls(-1)
    }

    func hasRoomForCall(of connection: ServerConnection) -> Bool {
        guard load.callsInFlight < limits.maxCalls else { return false }
        let most = limits.maxCallsPerUser
        return most == 0 || connection.use.calls < most || connection.right == .admin
    }

    func isQuery(_ method: String) -> Bool { method.utf8.starts(with: Self.queryPrefix) }

    private static let queryPrefix = Array("clusterd.v1.ClusterService/".utf8)

    /// When a call is over at the latest.
    func deadline(of request: CallRequest, from start: UInt64) -> UInt64? {
        var milliseconds = request.timeoutMilliseconds
        if limits.maxTimeoutMs > 0 { milliseconds = min(milliseconds ?? .max, Int64(limits.maxTimeoutMs)) }
        guard let milliseconds else { return nil }
        let (nanoseconds, overflow) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
        if overflow { return nil }
        let (deadline, late) = start.addingReportingOverflow(nanoseconds)
        return late ? nil : deadline
    }

    /// Makes this turn's counts visible to other threads; done a few times a second, not for every call.
    func publish() {
        let queued = budget.bytes
        let depths = Metrics.QueueDepths(
            queries: queries.depth, changes: changes.depth, messages: reading.depth)
        metrics.update { counters in
            counters.queued = depths
            counters.bytesQueued = queued
        }
    }

    /// Takes no new calls (they get `UNAVAILABLE`), lets those in flight finish within the grace time, and closes everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        graceTimer = Timer(on: loop, delay: UInt64(max(0, limits.shutdownGraceMs))) { [unowned self] in
            for connection in Array(connections.values) {
                connection.close(RPCError(.unavailable, "The server has shut down. Try again soon."))
            }
            finishIfDrained()
        }
        for connection in connections.values { connection.drain() }
        endIfDrained()
        finishIfDrained()
    }

    /// While the server ends: closes all connections once no call of any loop is in flight.
    package func endIfDrained() {
        guard onStopped != nil, load.callsInFlight == 0, !isEnding else { return }
        isEnding = true
        onDrained()
        for connection in Array(connections.values) { connection.end() }
    }

    private func finishIfDrained() {
        guard connections.isEmpty, let completion = onStopped else { return }
        onStopped = nil
        graceTimer = nil
        statisticsTimer = nil
        turnEnd = nil
        completion()
    }
}

/// A method that handlers answer.
final class ServedMethod {
    let name: String
    let handler: MethodHandler
    let kind: MethodDescription.Kind

    init(name: String, handler: MethodHandler) {
        self.name = name
        self.handler = handler
        kind =
            switch handler {
            case .unary: .unary
            case .clientStream: .clientStream
            case .serverStream: .both
            }
    }
}
