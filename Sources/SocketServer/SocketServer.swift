// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Synchronization

/// The connections of one loop that use the protocol over Unix sockets. Belongs to the loop's thread.
package final class SocketServer {
    let loop: EventLoop
    let engine: CallEngine
    let parser = JSONParser()
    let iterationAnswers = IterationAnswers()
    private var iterationEnd: IterationEnd?
    private var watch: Timer?
    private let onGone: @Sendable () -> Void
    private let refused: LingeringConnections
    private var connections: [ObjectIdentifier: SocketConnection] = [:]
    private var graceTimer: Timer?
    private var onStopped: (() -> Void)?
    /// When draining the clients' calls began; nil before.
    private var drainedSince: UInt64?
    var bytesReceived: UInt64 = 0 {
        didSet { engine.metrics.traffic.received.add(bytesReceived &- oldValue, ordering: .relaxed) }
    }
    var bytesSent: UInt64 = 0 {
        didSet { engine.metrics.traffic.sent.add(bytesSent &- oldValue, ordering: .relaxed) }
    }

    /// The interval at which connections are checked for clients that neither read nor send, in milliseconds.
    static let watchInterval: UInt64 = 100

    /// - Parameter onGone: called on the loop's thread for each connection that has closed.
    package init(loop: EventLoop, engine: CallEngine, onGone: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.engine = engine
        self.onGone = onGone
        refused = LingeringConnections(on: loop)
        iterationEnd = IterationEnd(on: loop) { [unowned iterationAnswers] in iterationAnswers.work() }
        watch = Timer(on: loop, delay: Self.watchInterval, every: Self.watchInterval) {
            [unowned self] in look()
        }
        watch?.unreference()
    }

    var isShuttingDown: Bool { onStopped != nil }

    /// Applies the engine's changed access rules to open connections.
    package func apply() {
        for connection in Array(connections.values) {
            connection.take(engine.access.right(of: connection.caller.peer))
        }
    }

    // MARK: Accepting

    /// Serves a client that the load has already counted.
    package func accept(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        guard onStopped == nil else {
            socket.close()
            return gone()
        }
        let peer = Peer(socket.peer, groups: socket.peerGroups)
        guard let share = engine.load.users.enter(UserKey(peer), most: engine.mostConnections(of: peer))
        else {
            return refuse(socket, "Too many connections of your user are open. Close some.")
        }
        let connection = SocketConnection(socket, peer: peer, share: share, server: self)
        connections[ObjectIdentifier(connection)] = connection
        engine.metrics.update { counters in
            counters.connectionsOpened += 1
            counters.connections += 1
        }
        connection.start()
    }

    /// Rejects a client that the load has already counted, because too many connections are open.
    package func refuse(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        refuse(socket, "Too many connections are open. Close some, or try again later.")
    }

    private func refuse(_ socket: Connection, _ message: String) {
        var bytes = ByteWriter()
        ServerMessage.write(error: RPCError(.resourceExhausted, message), id: nil, into: &bytes)
        _ = bytes.withUnsafeBytes { socket.tryWrite($0) }
        if isShuttingDown { socket.close() } else { refused.add(socket) }
        gone()
    }

    private func gone() {
        engine.load.addConnections(-1)
        onGone()
    }

    func remove(_ connection: SocketConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        engine.load.users.leave(connection.caller.share)
        engine.metrics.update { $0.connections -= 1 }
        gone()
        finishIfEmpty()
    }

    // MARK: Stalled clients

    /// Closes the connections whose clients do not read or do not complete a message, and starts calls that had
    /// to wait.
    private func look() {
        let now = MonotonicClock.now()
        var stalled: [SocketConnection] = []
        for connection in Array(connections.values) where connection.isStalled(at: now) {
            stalled.append(connection)
        }
        if engine.load.unread.isSpent { makeRoom(stalled, now) }
        engine.load.queries.retry()
        engine.load.reading.retry()
        if isShuttingDown { closeDrained() }
    }

    /// Closes stalled clients until there is room, beginning with those that hold the most and have been stalled
    /// longest.
    private func makeRoom(_ stalled: [SocketConnection], _ now: UInt64) {
        let worst = stalled.map { (connection: $0, weight: $0.stallWeight(at: now)) }
            .filter { $0.weight > 0 }.sorted { $0.weight > $1.weight }
        for (connection, _) in worst {
            guard engine.load.unread.isSpent else { return }
            connection.closeStalled()
        }
    }

    // MARK: The end

    /// Shuts down: new calls get `UNAVAILABLE`, calls in flight may finish within the grace time, clients get a
    /// notice, then everything is closed.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        drainedSince = MonotonicClock.now()
        refused.close()
        graceTimer = Timer(on: loop, delay: UInt64(max(0, engine.limits.shutdownGraceMs))) { [unowned self] in
            for connection in Array(connections.values) {
                connection.close(RPCError(.unavailable, "The server has shut down. Try again soon."))
            }
            finishIfEmpty()
        }
        for connection in Array(connections.values) { connection.drain() }
        finishIfEmpty()
    }

    /// Stops reading once no call of any loop is in flight and a moment has passed. What was sent before is still
    /// answered, then the notice follows, and the sending of later calls fails.
    private func closeDrained() {
        guard let drainedSince, engine.load.callsInFlight == 0,
            MonotonicClock.now() - drainedSince >= Self.drainTime
        else { return }
        for connection in Array(connections.values) { connection.finishReading() }
    }

    /// How long calls that clients were sending when the shutdown began have to arrive, in nanoseconds.
    private static let drainTime: UInt64 = 50_000_000

    private func finishIfEmpty() {
        guard connections.isEmpty, let completion = onStopped else { return }
        onStopped = nil
        graceTimer = nil
        watch = nil
        iterationEnd = nil
        completion()
    }
}
