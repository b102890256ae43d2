// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Transports

/// The connections of one loop that use the protocol over Unix sockets. Belongs to the loop's thread.
package final class SocketServer: ListeningTransport {
    let loop: EventLoop
    let engine: CallEngine
    let parser = JSONParser()
    let iterationAnswers = IterationAnswers()
    private var iterationEnd: IterationEnd?
    private var watch: Timer?
    private let connections: ServedConnections<SocketConnection>
    /// When draining the clients' calls began; nil before.
    private var drainedSince: UInt64?

    /// Serves the clients of the socket that speak HTTP.
    package var http: (any AdoptingTransport)?

    /// The interval at which connections are checked for clients that neither read nor send, in milliseconds.
    static let watchInterval: UInt64 = 100

    /// - Parameter onClosed: called on the loop's thread for each connection that has closed.
    package init(loop: EventLoop, engine: CallEngine, onClosed: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.engine = engine
        connections = ServedConnections(engine, on: loop, onClosed: onClosed)
        iterationEnd = IterationEnd(on: loop) { [unowned iterationAnswers] in iterationAnswers.work() }
        watch = Timer(on: loop, delay: Self.watchInterval, every: Self.watchInterval) { [unowned self] in look() }
        watch?.unreference()
    }

    var isShuttingDown: Bool { connections.isShuttingDown }

    /// Applies the engine's changed access rules to open connections.
    package func apply() {
        for connection in connections.all {
            connection.take(engine.access.right(of: connection.caller.peer))
        }
    }

    // MARK: Accepting

    /// Serves a client that the load has already counted.
    package func accept(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return connections.countClosed() }
        guard !isShuttingDown else { return connections.refuse(socket, ByteWriter(capacity: 16)) }
        let peer = Peer(socket.peer, groups: socket.peerGroups)
        guard let share = engine.load.users.enter(UserKey(peer), most: engine.mostConnections(of: peer)) else {
            return refuse(socket, "Too many connections of your user are open. Close some.")
        }
        let connection = SocketConnection(socket, peer: peer, share: share, server: self)
        connections.add(connection)
        connection.start()
    }

    /// Passes a client to HTTP if its first bytes are not those of a frame.
    func handsOver(_ connection: SocketConnection, _ bytes: RawSpan) -> Bool {
        guard let http else { return false }
        var first: [UInt8] = []
        first.append(contentsOf: bytes)
        guard Speech(first.span) != .frames else { return false }
        // The other transport may have ended already.
        guard !isShuttingDown else {
            connection.close()
            return true
        }
        let client = RecognizedClient(connection, address: nil, bytes: first, began: loop.now)
        connections.handOver(connection)
        http.adopt(client)
        return true
    }

    /// Rejects a client that the load has already counted, because too many connections are open.
    package func refuse(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return connections.countClosed() }
        refuse(socket, "Too many connections are open. Close some, or try again later.")
    }

    private func refuse(_ socket: Connection, _ message: String) {
        var bytes = ByteWriter()
        ServerMessage.write(error: RPCError(.resourceExhausted, message), id: nil, into: &bytes)
        connections.refuse(socket, bytes)
    }

    func remove(_ connection: SocketConnection) {
        if connections.remove(connection) { connections.countClosed() }
    }

    func closeStalled(_ connection: SocketConnection) { connections.closeStalled(connection) }

    // MARK: Stalled clients

    /// Closes the connections whose clients do not read or do not complete a message, and starts calls that had
    /// to wait.
    private func look() {
        let now = MonotonicClock.now()
        for connection in connections.all { connection.check(at: now) }
        connections.makeRoom(now)
        engine.load.queries.retry()
        engine.load.reading.retry()
        if isShuttingDown { closeDrained() }
    }

    // MARK: The end

    /// Shuts down: new calls get `UNAVAILABLE`, calls in flight may finish within the grace time, clients get a
    /// notice, then everything is closed.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) {
        guard !isShuttingDown else { return }
        drainedSince = MonotonicClock.now()
        connections.shutDown { [self] in
            watch = nil
            iterationEnd = nil
            completion()
        }
    }

    /// Stops reading once no call of any loop is in flight and a moment has passed. What was sent before is still
    /// answered, then the notice follows, and the sending of later calls fails.
    private func closeDrained() {
        guard let drainedSince, engine.load.callsInFlight == 0,
            MonotonicClock.now() - drainedSince >= Self.drainTime
        else { return }
        for connection in connections.all { connection.finishReading() }
    }

    /// How long calls that clients were sending when the shutdown began have to arrive, in nanoseconds.
    private static let drainTime: UInt64 = 50_000_000
}
