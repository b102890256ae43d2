// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON

/// The connections of one loop that speak the protocol over Unix sockets. Belongs to the loop's thread.
package final class SocketDoor {
    let loop: EventLoop
    let engine: CallEngine
    let parser = JSONParser()
    let names = MethodNames()
    let iterationAnswers = IterationAnswers()
    private var iterationEnd: IterationEnd?
    private var watch: Timer?
    private let onGone: @Sendable () -> Void
    private var connections: [ObjectIdentifier: SocketConnection] = [:]
    private var graceTimer: Timer?
    private var onStopped: (() -> Void)?
    /// When the clients' calls began to be drained; nil before.
    private var drainedSince: UInt64?
    var bytesReceived: UInt64 = 0 {
        didSet { engine.metrics.traffic.received.add(bytesReceived &- oldValue, ordering: .relaxed) }
    }
    var bytesSent: UInt64 = 0 {
        didSet { engine.metrics.traffic.sent.add(bytesSent &- oldValue, ordering: .relaxed) }
    }

    /// How often connections are looked at that neither read nor send, in milliseconds.
    private static let watchInterval: UInt64 = 100

    /// - Parameter onGone: called on the loop's thread for each connection that has closed.
    package init(loop: EventLoop, engine: CallEngine, onGone: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.engine = engine
        self.onGone = onGone
        iterationEnd = IterationEnd(on: loop) { [unowned iterationAnswers] in iterationAnswers.work() }
        watch = Timer(on: loop, delay: Self.watchInterval, every: Self.watchInterval) {
            [unowned self] in look()
        }
        watch?.unreference()
    }

    var isShuttingDown: Bool { onStopped != nil }

    /// Takes over the engine's changed access rules for connections that are open.
    package func apply() {
        for connection in Array(connections.values) {
            connection.take(engine.access.right(of: connection.caller.peer))
        }
    }

    // MARK: Accepting

    /// Serves a client that the load counts already.
    package func accept(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        guard onStopped == nil else {
            socket.close()
            return gone()
        }
        let peer =
            socket.peer.map {
                Peer(
                    processID: $0.processID, userID: $0.userID, groupID: $0.groupID, groups: socket.peerGroups
                )
            } ?? .unknown
        guard let share = engine.load.users.enter(UserKey(peer), most: mostConnections(of: peer)) else {
            return refuse(socket, "Too many connections of your user are open. Close some.")
        }
        let connection = SocketConnection(socket, peer: peer, share: share, door: self)
        connections[ObjectIdentifier(connection)] = connection
        engine.metrics.update { counters in
            counters.connectionsOpened += 1
            counters.connections += 1
        }
        connection.start()
    }

    /// Administrators can always get in, as far as the server has room at all.
    private func mostConnections(of peer: Peer) -> Int? {
        let most = engine.limits.maxConnectionsPerUser
        return most == 0 || engine.access.right(of: peer) == .admin ? nil : most
    }

    /// Turns away a client that the load counts already, because too many connections are open.
    package func refuse(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        refuse(socket, "Too many connections are open. Close some, or try again later.")
    }

    private func refuse(_ socket: Connection, _ message: String) {
        var bytes = ByteWriter()
        ServerMessage.write(error: RPCError(.resourceExhausted, message), id: nil, into: &bytes)
        _ = bytes.withUnsafeBytes { socket.tryWrite($0) }
        socket.close()
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

    // MARK: Clients that do not go on

    /// Closes the connections whose clients do not read or do not send on, and lets calls start that had to wait.
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

    /// Closes stalled clients, those first that hold the most and have been stalled longest, until there is room.
    private func makeRoom(_ stalled: [SocketConnection], _ now: UInt64) {
        let worst = stalled.map { (connection: $0, weight: $0.stallWeight(at: now)) }
            .filter { $0.weight > 0 }.sorted { $0.weight > $1.weight }
        for (connection, _) in worst {
            guard engine.load.unread.isSpent else { return }
            connection.closeStalled()
        }
    }

    // MARK: The end

    /// Takes no new calls (they get `UNAVAILABLE`), lets calls in flight finish within the grace time, sends the clients a
    /// notice, and closes everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        drainedSince = MonotonicClock.now()
        graceTimer = Timer(on: loop, delay: UInt64(max(0, engine.limits.shutdownGraceMs))) { [unowned self] in
            for connection in Array(connections.values) {
                connection.close(RPCError(.unavailable, "The server has shut down. Try again soon."))
            }
            finishIfEmpty()
        }
        for connection in Array(connections.values) { connection.drain() }
        finishIfEmpty()
    }

    /// Once no call of any loop is in flight, and a moment has passed, takes no more input: what was sent before is still
    /// answered, then the notice follows, and a later call fails with its sending.
    private func closeDrained() {
        guard let drainedSince, engine.load.callsInFlight == 0,
            MonotonicClock.now() - drainedSince >= Self.drainTime
        else { return }
        for connection in Array(connections.values) { connection.finishReading() }
    }

    /// How long calls that clients were sending when the end began have to arrive, in nanoseconds.
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
