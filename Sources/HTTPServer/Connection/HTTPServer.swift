// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Transports

/// The HTTP connections of one loop. Belongs to the loop's thread. While nobody is connected it has no timer and
/// no buffer.
package final class HTTPServer: Transport {
    let engine: CallEngine
    let loop: EventLoop
    let service: HTTPService
    private(set) var rules: HTTPRules
    private let connections: ServedConnections<HTTPConnection>
    private var sweep: Timer?
    /// The output of a turn, and the answer being written: each is used within one turn of one connection.
    var output = ByteWriter(capacity: 64)
    var answer = ByteWriter(capacity: 64)
    private var date: (second: Int, text: [UInt8]) = (0, [])
    var isDraining: Bool { connections.isShuttingDown }

    /// The interval at which connections are checked for time-outs, in milliseconds.
    private static let sweepInterval: UInt64 = 500
    /// Larger buffers are freed after each use.
    private static let keptBuffer = 256 << 10

    /// - Parameter onClosed: called on the loop's thread for each connection that has closed.
    package init(
        _ engine: CallEngine, _ loop: EventLoop, _ service: HTTPService, onClosed: @escaping @Sendable () -> Void
    ) {
        self.engine = engine
        self.loop = loop
        self.service = service
        connections = ServedConnections(engine, on: loop, onClosed: onClosed)
        rules = service.rules
    }

    // MARK: Connections

    /// Serves a client that the daemon has already counted.
    package func accept(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return connections.countClosed() }
        guard !isDraining else { return connections.refuse(socket, ByteWriter(capacity: 16)) }
        let address = socket.peerAddress
        let peer =
            address.map { Peer.remote($0.description, rightMember: "http.right") }
            ?? Peer(socket.peer, groups: socket.peerGroups)
        let right = address == nil ? engine.access.right(of: peer) : rules.settings.right
        let most = address == nil ? engine.mostConnections(of: peer) : nil
        guard service.counters.connections.load(ordering: .relaxed) < rules.settings.limits.maxConnections,
            let share = engine.load.users.enter(UserKey(peer), most: most)
        else { return refuse(socket) }
        if address != nil { socket.sendAtOnce() }
        service.counters.connections.add(1, ordering: .relaxed)
        let connection = HTTPConnection(socket, self, peer: peer, right: right, share: share, address: address?.host)
        connections.add(connection)
        if sweep == nil { startSweep() }
        connection.start()
    }

    /// Rejects a client that the daemon has already counted.
    package func refuse(_ socket: AcceptedSocket) {
        guard let socket = Connection(on: loop, taking: socket) else { return connections.countClosed() }
        refuse(socket)
    }

    private static let tooMany = RequestFailure(
        .serviceUnavailable, "Too many connections are open. Close some, or try again later.")

    private func refuse(_ socket: Connection) {
        var bytes = ByteWriter()
        let body = Self.tooMany.body
        var head = Self.tooMany.head(body.count)
        head.closes = true
        head.write(into: &bytes, date: dateText)
        bytes.append(contentsOf: body)
        service.counters.count(status: Self.tooMany.status.number)
        connections.refuse(socket, bytes)
    }

    func remove(_ connection: HTTPConnection) {
        guard connections.remove(connection) else { return }
        service.counters.connections.add(-1, ordering: .relaxed)
        if connections.isEmpty { rest() }
        connections.countClosed()
    }

    func closeStalled(_ connection: HTTPConnection) { connections.closeStalled(connection) }

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
            for connection in connections.all { connection.check(now: now) }
            connections.makeRoom(now * 1_000_000)
            service.log.flush()
        }
        sweep?.unreference()
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
        for connection in connections.all {
            connection.take(
                connection.isOverUnix ? engine.access.right(of: connection.caller.peer) : rules.settings.right)
        }
    }

    /// Shuts down: new calls get 503, watches end, calls in flight may finish within the grace time, then
    /// everything is closed.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) { connections.shutDown(completion) }
}
