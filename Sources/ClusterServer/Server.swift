// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON

/// The daemon's inside: connections on a loop, calls to handlers. Belongs to the loop's thread.
public final class Server {
    public let loop: EventLoop
    public private(set) var limits: Limits
    /// Who may do what; what changes holds for the next calls.
    private(set) var access: AccessPolicy
    public let metrics: Metrics
    /// What answers each method, by full name.
    let handlers: MethodHandlers
    let parser = JSONParser()
    /// Calls that read sources: as many at once as there are cores, since their answers are held in memory.
    let queries: PoolQueue
    /// Calls that change sources, which may take long.
    let changes: PoolQueue
    /// Large messages that are being read.
    let reading: PoolQueue
    let budget: QueueBudget
    let streamTurns: StreamTurns
    /// Lent to the connection whose turn it is.
    var turnBuffer = ByteWriter(capacity: 1 << 16)

    private var listeners: [Listener] = []
    private var users = UserTable()
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var graceTimer: Timer?
    private var statisticsTimer: Timer?
    private var onStopped: (() -> Void)?
    /// No call is left, and connections close as soon as their answers are written.
    private var isEnding = false
    var bytesReceived: UInt64 = 0
    var bytesSent: UInt64 = 0
    var callsInFlight = 0
    /// Bytes of messages that are not whole yet, of all connections.
    var heldInputBytes = 0

    public init(
        loop: EventLoop, limits: Limits, access: AccessPolicy = AccessPolicy(), metrics: Metrics,
        handlers: MethodHandlers
    ) {
        self.loop = loop
        self.limits = limits
        self.access = access
        self.metrics = metrics
        self.handlers = handlers
        streamTurns = StreamTurns(loop.remote)
        budget = QueueBudget(limit: limits.maxQueuedBytes)
        queries = PoolQueue(jobs: limits.queryThreads, jobsPerLane: max(1, limits.queryThreads - 1))
        changes = PoolQueue(jobs: limits.changeThreads, jobsPerLane: max(1, limits.changeThreads / 2))
        reading = PoolQueue(jobs: limits.queryThreads, jobsPerLane: 1)
        statisticsTimer = Timer(on: loop, delay: 200, every: 200) { [weak self] in self?.publish() }
        statisticsTimer?.unreference()
    }

    /// Serves on a new socket file; the path must be free.
    public func listen(path: String, mode: UInt32 = 0o666) throws(EventLoopError) {
        listeners.append(
            try Listener(on: loop, path: path, mode: mode) { [weak self] socket in self?.accept(socket) })
    }

    /// Serves on a socket that was handed over.
    public func listen(descriptor: Int32) throws(EventLoopError) {
        listeners.append(
            try Listener(on: loop, descriptor: descriptor) { [weak self] socket in self?.accept(socket) })
    }

    /// Takes over what can change while the server serves: for connections that are open too.
    public func apply(limits: Limits, access: AccessPolicy) {
        self.limits = self.limits.taking(liveFrom: limits)
        self.access = access
        for connection in connections.values { connection.right = access.right(of: connection.peer) }
    }

    /// Tells of calls that took long.
    var slowCalls: SlowCallLog?

    /// Counts a call that is over.
    func record(_ request: CallRequest, _ status: StatusCode, since started: UInt64) {
        let taken = MonotonicClock.now() - started
        metrics.record(request.method, status, nanoseconds: taken)
        slowCalls?.record(request, status, nanoseconds: taken)
    }

    /// Lets clients wait in the system until `resumeAccepting`.
    func pauseAccepting() { for listener in listeners { listener.pause() } }
    func resumeAccepting() { for listener in listeners { listener.resume() } }

    private func accept(_ socket: Connection) {
        let peer =
            socket.peer.map {
                Peer(
                    processID: $0.processID, userID: $0.userID, groupID: $0.groupID, groups: socket.peerGroups
                )
            } ?? .unknown
        guard connections.count < limits.maxConnections else {
            return refuse(socket, "Too many connections are open. Close some, or try again later.")
        }
        guard hasRoomForConnection(of: peer) else {
            return refuse(socket, "Too many connections of your user are open. Close some.")
        }
        let connection = ServerConnection(socket, peer: peer, use: users.enter(peer.userID), server: self)
        connections[ObjectIdentifier(connection)] = connection
        metrics.update { counters in
            counters.connectionsOpened += 1
            counters.connections += 1
        }
        connection.start()
        if connections.count >= descriptorRoom { for listener in listeners { listener.pause() } }
    }

    /// For how many connections the process has descriptors, some kept for files; beyond, clients wait in
    /// the system until others have gone.
    public var descriptorRoom = Int.max

    /// Administrators can always get in, as far as the server has room at all.
    private func hasRoomForConnection(of peer: Peer) -> Bool {
        let most = limits.maxConnectionsPerUser
        return most == 0 || users.connections(of: peer.userID) < most || access.right(of: peer) == .admin
    }

    private func refuse(_ socket: Connection, _ message: String) {
        var bytes = ByteWriter()
        ServerMessage.write(error: RPCError(.resourceExhausted, message), id: nil, into: &bytes)
        _ = bytes.withUnsafeBytes { socket.tryWrite($0) }
        socket.close()
    }

    func remove(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        users.leave(connection.use)
        queries.clear(connection.queries)
        changes.clear(connection.changes)
        metrics.update { $0.connections -= 1 }
        if connections.count < descriptorRoom { for listener in listeners { listener.resume() } }
        endIfDrained()
        finishIfDrained()
    }

    func kind(of method: String) -> MethodDescription.Kind? {
        switch handlers[method] {
        case .unary?: .unary
        case .clientStream?: .clientStream
        case .serverStream?: .both
        case nil: nil
        }
    }

    func hasRoomForCall(of connection: ServerConnection) -> Bool {
        guard callsInFlight < limits.maxCalls else { return false }
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
        let (received, sent, queued, calls) = (bytesReceived, bytesSent, budget.bytes, callsInFlight)
        metrics.update { counters in
            counters.bytesReceived = received
            counters.bytesSent = sent
            counters.bytesQueued = queued
            counters.callsInFlight = calls
        }
    }

    /// Takes no new calls (they get `UNAVAILABLE`), lets those in flight finish within the grace time, and closes everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        for listener in listeners { listener.close() }
        listeners = []
        graceTimer = Timer(on: loop, delay: UInt64(max(0, limits.shutdownGraceMs))) { [weak self] in
            guard let self else { return }
            for connection in Array(self.connections.values) {
                connection.close(RPCError(.unavailable, "The server has shut down. Try again soon."))
            }
            self.finishIfDrained()
        }
        for connection in connections.values { connection.drain() }
        endIfDrained()
        finishIfDrained()
    }

    /// While the server ends: closes all connections once no call is in flight.
    func endIfDrained() {
        guard onStopped != nil, callsInFlight == 0, !isEnding else { return }
        isEnding = true
        for connection in Array(connections.values) { connection.end() }
    }

    private func finishIfDrained() {
        guard connections.isEmpty, let completion = onStopped else { return }
        onStopped = nil
        graceTimer = nil
        statisticsTimer = nil
        completion()
    }
}
