// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON

/// The daemon's inside: connections on a loop, calls to handlers. Belongs to the loop's thread.
public final class Server {
    public let loop: EventLoop
    public let limits: Limits
    public let metrics: Metrics
    /// What answers each method, by full name.
    let handlers: MethodHandlers
    let parser = JSONParser()
    let pool = PoolQueue(jobsPerConnection: 2)

    private var listeners: [Listener] = []
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var graceTimer: Timer?
    private var statisticsTimer: Timer?
    private var onStopped: (() -> Void)?
    var bytesReceived: UInt64 = 0
    var bytesSent: UInt64 = 0
    var queuedBytes = 0
    var callsInFlight = 0

    public init(loop: EventLoop, limits: Limits, metrics: Metrics, handlers: MethodHandlers) {
        self.loop = loop
        self.limits = limits
        self.metrics = metrics
        self.handlers = handlers
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

    private func accept(_ socket: Connection) {
        let connection = ServerConnection(socket, server: self)
        guard connections.count < limits.maxConnections else {
            return refuse(connection)
        }
        connections[ObjectIdentifier(connection)] = connection
        metrics.update { counters in
            counters.connectionsOpened += 1
            counters.connections += 1
        }
        connection.start()
    }

    private func refuse(_ connection: ServerConnection) {
        var bytes = ByteWriter()
        ServerMessage.write(
            error: RPCError(
                .resourceExhausted, "Too many connections are open. Close some, or try again later."),
            id: nil, into: &bytes)
        _ = bytes.withUnsafeBytes { connection.socket.tryWrite($0) }
        connection.socket.close()
    }

    func remove(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        pool.remove(connection)
        metrics.update { $0.connections -= 1 }
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

    var hasRoomForCall: Bool { callsInFlight < limits.maxCalls && queuedBytes < limits.maxQueuedBytes }

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
        let (received, sent, queued, calls) = (bytesReceived, bytesSent, queuedBytes, callsInFlight)
        metrics.update { counters in
            counters.bytesReceived = received
            counters.bytesSent = sent
            counters.bytesQueued = queued
            counters.callsInFlight = calls
        }
    }

    /// Takes no new calls, lets those in flight finish within the grace time, and closes everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    public func shutDown(_ completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        for listener in listeners { listener.close() }
        listeners = []
        graceTimer = Timer(on: loop, delay: UInt64(max(0, limits.shutdownGraceMs))) { [weak self] in
            guard let self else { return }
            for connection in Array(self.connections.values) { connection.close() }
            self.finishIfDrained()
        }
        for connection in Array(connections.values) { connection.drain() }
        finishIfDrained()
    }

    private func finishIfDrained() {
        guard connections.isEmpty, let completion = onStopped else { return }
        onStopped = nil
        graceTimer = nil
        statisticsTimer = nil
        completion()
    }
}
