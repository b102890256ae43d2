// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Transports

/// The HTTP connections of one loop. Belongs to the loop's thread. While nobody is connected it has no timer and
/// no buffer.
package final class HTTPServer: ListeningTransport, AdoptingTransport {
    let engine: CallEngine
    let loop: EventLoop
    package let service: HTTPService
    package private(set) var rules: HTTPRules
    private let connections: ServedConnections<HTTPConnection>
    /// Serves the clients that speak HTTP/2.
    package var http2: (any AdoptingTransport)?
    private var sweep: Timer?
    /// The output of a turn, and the answer being written: each is used within one turn of one connection.
    var output = ByteWriter(capacity: 64)
    var answer = ByteWriter(capacity: 64)
    let parser = JSONParser()
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
        guard service.hasRoom(for: rules),
            let share = engine.load.users.enter(UserKey(peer), most: most)
        else { return refuse(socket) }
        if address != nil { socket.sendAtOnce() }
        let connection = HTTPConnection(socket, self, peer: peer, right: right, share: share, address: address?.host)
        connections.add(connection)
        serve(connection)
    }

    private func serve(_ connection: HTTPConnection) {
        service.countConnections(1)
        if sweep == nil { startSweep() }
        connection.start()
    }

    /// Serves a client of the protocol's socket.
    package func adopt(_ client: RecognizedClient) {
        guard service.hasRoom(for: rules) else {
            engine.load.users.leave(client.share)
            engine.metrics.update { $0.connections -= 1 }
            return refuse(client.socket)
        }
        let connection = HTTPConnection(
            client.socket, self, peer: client.peer, right: client.right, share: client.share, address: client.address)
        connections.takeOver(connection)
        serve(connection)
        connection.read(client.bytes.span.bytes)
    }

    /// Passes a client to HTTP/2 whose connection begins like its preface; returns false if nobody serves HTTP/2.
    func handsOver(_ connection: HTTPConnection, _ bytes: [UInt8]) -> Bool {
        guard let http2 else { return false }
        // The other transport may have ended already.
        guard !isDraining else {
            connection.close()
            return true
        }
        let client = RecognizedClient(
            connection, address: connection.address, bytes: bytes, began: connection.clock.beginning(now: loop.now))
        connections.handOver(connection)
        if connections.isEmpty { rest() }
        http2.adopt(client)
        return true
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
        service.countConnections(-1)
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
    package var dateText: [UInt8] {
        let now = HTTPDate.now
        if now != date.second { date = (now, HTTPDate.text(now)) }
        return date.text
    }

    /// Counts a response, and writes it to the access log.
    ///
    /// - Parameters:
    ///   - bytes: the size of its body.
    ///   - head: of the request; nil if what came is none.
    func record(_ status: HTTPStatus, _ bytes: Int, of head: RequestHead?, from channel: any ResponseChannel) {
        service.counters.count(status: status.number)
        service.log.record(
            AccessLog.Entry(
                address: channel.address ?? "unix:",
                user: channel.isOverUnix ? String(channel.caller.peer.userID) : "-",
                moment: HTTPDate.logText(HTTPDate.now), requestLine: head?.line ?? "-",
                status: status.number, bytes: bytes, referer: head?[.referer], userAgent: head?[.userAgent]))
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
