// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Synchronization

/// The HTTP connections of one loop. Belongs to the loop's thread. While nobody is connected it has no timer and
/// no buffer.
package final class HTTPServer {
    let engine: CallEngine
    let loop: EventLoop
    let service: HTTPService
    private(set) var rules: HTTPRules
    private let onGone: @Sendable () -> Void
    private let turnedAway: LingeringConnections
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    private var sweep: Timer?
    /// The output of a turn, and the answer being written: each is used within one turn of one connection.
    var output = ByteWriter(capacity: 64)
    var answer = ByteWriter(capacity: 64)
    private var date: (second: Int, text: [UInt8]) = (0, [])
    var isDraining: Bool { onStopped != nil }
    private var onStopped: (() -> Void)?
    private var graceTimer: Timer?

    /// The interval at which connections are checked for time-outs, in milliseconds.
    private static let sweepInterval: UInt64 = 500
    /// Larger buffers are freed after each use.
    private static let keptBuffer = 256 << 10

    /// - Parameter onGone: called on the loop's thread for each connection that has closed.
    package init(
        _ engine: CallEngine, _ loop: EventLoop, _ service: HTTPService,
        onGone: @escaping @Sendable () -> Void
    ) {
        self.engine = engine
        self.loop = loop
        self.service = service
        self.onGone = onGone
        turnedAway = LingeringConnections(on: loop)
        rules = service.rules
    }

    package var openConnections: Int { connections.count }

    // MARK: Connections

    /// Serves a client that the daemon has already counted.
    package func accept(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        guard !isDraining else { return turnAway(socket, nil) }
        let address = socket.peerAddress
        let peer =
            address.map { Peer.remote($0.description, rightMember: "http.right") }
            ?? Peer(socket.peer, groups: socket.peerGroups)
        let right = address == nil ? engine.access.right(of: peer) : rules.settings.right
        let most = address == nil ? engine.mostConnections(of: peer) : nil
        guard service.counters.connections.load(ordering: .relaxed) < rules.settings.limits.maxConnections,
            let share = engine.load.users.enter(UserKey(peer), most: most)
        else { return turnAway(socket, Self.tooMany) }
        if address != nil { socket.sendAtOnce() }
        service.counters.connections.add(1, ordering: .relaxed)
        engine.metrics.update {
            $0.connectionsOpened += 1
            $0.connections += 1
        }
        let connection = HTTPConnection(
            socket, self, peer: peer, right: right, share: share, address: address?.host)
        connections[ObjectIdentifier(connection)] = connection
        if sweep == nil { startSweep() }
        connection.start()
    }

    /// Rejects a client that the daemon has already counted.
    package func refuse(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return gone() }
        turnAway(socket, Self.tooMany)
    }

    private static let tooMany = RequestFailure(
        .serviceUnavailable, "Too many connections are open. Close some, or try again later.")

    private func turnAway(_ socket: Connection, _ failure: RequestFailure?) {
        if let failure {
            var bytes = ByteWriter()
            ErrorResponse(failure).write(into: &bytes, date: dateText, closes: true)
            _ = bytes.withUnsafeBytes { socket.tryWrite($0) }
            service.counters.count(status: failure.status.rawValue)
        }
        if failure == nil || isDraining { socket.close() } else { turnedAway.add(socket) }
        gone()
    }

    private func gone() {
        engine.load.addConnections(-1)
        onGone()
    }

    func remove(_ connection: HTTPConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        engine.load.users.leave(connection.caller.share)
        service.counters.connections.add(-1, ordering: .relaxed)
        engine.metrics.update { $0.connections -= 1 }
        if connections.isEmpty { rest() }
        gone()
        finishIfEmpty()
    }

    /// Frees what only open connections need.
    private func rest() {
        sweep = nil
        output = ByteWriter(capacity: 64)
        answer = ByteWriter(capacity: 64)
        service.log.flush()
    }

    private func startSweep() {
        sweep = Timer(on: loop, delay: Self.sweepInterval, every: Self.sweepInterval) { [unowned self] in
            let now = loop.now
            for connection in Array(connections.values) { connection.check(now: now) }
            makeRoom(now * 1_000_000)
            service.log.flush()
        }
        sweep?.unreference()
    }

    /// Closes stalled clients until there is room for answers, beginning with those that hold the most and have
    /// been stalled longest.
    private func makeRoom(_ now: UInt64) {
        guard engine.load.unread.isSpent else { return }
        let worst = connections.values.map { (connection: $0, weight: $0.stallWeight(at: now)) }
            .filter { $0.weight > 0 }.sorted { $0.weight > $1.weight }
        for (connection, _) in worst {
            guard engine.load.unread.isSpent else { return }
            connection.closeStalled()
        }
    }

    // MARK: Used by connections

    /// The current time in the format of heads.
    var dateText: [UInt8] {
        let now = HTTPDate.now
        if now != date.second { date = (now, HTTPDate.text(now)) }
        return date.text
    }

    func shrink(_ buffer: inout ByteWriter) {
        if buffer.count > Self.keptBuffer {
            buffer = ByteWriter(capacity: 64)
        } else {
            buffer.truncate(to: 0)
        }
    }

    // MARK: Changes

    /// Applies changed settings, also to open connections.
    package func apply() {
        rules = service.rules
        for connection in Array(connections.values) {
            connection.take(
                connection.isOverUnix ? engine.access.right(of: connection.caller.peer) : rules.settings.right
            )
        }
    }

    /// Shuts down: new calls get 503, watches end, calls in flight may finish within the grace time, then
    /// everything is closed.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) {
        guard onStopped == nil else { return }
        onStopped = completion
        turnedAway.close()
        graceTimer = Timer(on: loop, delay: UInt64(max(0, engine.limits.shutdownGraceMs))) { [unowned self] in
            for connection in Array(connections.values) {
                connection.close(RPCError(.unavailable, "The server has shut down. Try again soon."))
            }
        }
        for connection in Array(connections.values) { connection.drain() }
        finishIfEmpty()
    }

    private func finishIfEmpty() {
        guard connections.isEmpty, let completion = onStopped, graceTimer != nil else { return }
        graceTimer = nil
        completion()
    }
}
