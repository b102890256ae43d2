// SPDX-License-Identifier: MIT
import EventLoop
import HTTPServer
import JSON
import RPC
import Transports

/// The HTTP/2 connections of one loop. It has no listeners: other transports hand over the clients that begin with its
/// preface. Belongs to the loop's thread.
package final class HTTP2Server: AdoptingTransport {
    let engine: CallEngine
    let loop: EventLoop
    /// What answers requests for resources.
    unowned let http: HTTPServer
    let service: HTTPService
    let parser = JSONParser()
    /// What health checks ask about.
    let health: any HealthStatus
    private(set) var rules: HTTPRules
    private let connections: ServedConnections<HTTP2Connection>
    private var sweep: Timer?
    /// What is being written; used within one turn of one connection.
    var output = ByteWriter(capacity: 64)
    /// Buffers of answers that have been written, for later answers.
    private var spare: [OutgoingBytes] = []
    var isDraining: Bool { connections.isShuttingDown }

    /// The interval at which connections are checked, in milliseconds.
    private static let sweepInterval: UInt64 = 100
    /// Larger buffers are freed after each use.
    private static let keptBuffer = 256 << 10
    private static let keptAnswers = 16
    private static let keptAnswer = 64 << 10

    /// - Parameter onClosed: called on the loop's thread for each connection that has closed.
    package init(
        _ engine: CallEngine, _ loop: EventLoop, _ http: HTTPServer, health: any HealthStatus,
        onClosed: @escaping @Sendable () -> Void
    ) {
        (self.engine, self.loop, self.http, self.health) = (engine, loop, http, health)
        service = http.service
        connections = ServedConnections(engine, on: loop, onClosed: onClosed)
        rules = service.rules
    }

    package func adopt(_ client: RecognizedClient) {
        let connection = HTTP2Connection(client, self)
        connections.takeOver(connection)
        if sweep == nil { startSweep() }
        connection.start()
        connection.read(client.bytes.span.bytes)
    }

    func remove(_ connection: HTTP2Connection) {
        guard connections.remove(connection) else { return }
        service.countConnections(-1)
        if connections.isEmpty { rest() }
        connections.countClosed()
    }

    func closeStalled(_ connection: HTTP2Connection) { connections.closeStalled(connection) }

    /// Frees what only open connections need.
    private func rest() {
        sweep = nil
        output = ByteWriter(capacity: 64)
        spare = []
    }

    private func startSweep() {
        sweep = Timer(on: loop, delay: Self.sweepInterval, every: Self.sweepInterval) { [unowned self] in
            let now = loop.now
            for connection in connections.all { connection.check(now: now) }
            connections.makeRoom(now * 1_000_000)
        }
        sweep?.unreference()
    }

    // MARK: Used by connections

    func shrinkOutput() {
        if output.count > Self.keptBuffer {
            output = ByteWriter(capacity: 64)
        } else {
            output.truncate(to: 0)
        }
    }

    /// An empty buffer for an answer.
    func borrow() -> OutgoingBytes { spare.popLast() ?? OutgoingBytes(ByteWriter(capacity: 1024)) }

    /// An answer has been written.
    func giveBack(_ bytes: OutgoingBytes) {
        guard spare.count < Self.keptAnswers, bytes.writer.count <= Self.keptAnswer else { return }
        bytes.writer.truncate(to: 0)
        spare.append(bytes)
    }

    // MARK: Changes

    package func apply() {
        rules = service.rules
        for connection in connections.all {
            connection.take(
                connection.isOverUnix ? engine.access.right(of: connection.caller.peer) : rules.settings.right)
        }
    }

    package func shutDown(_ completion: @escaping () -> Void) { connections.shutDown(completion) }
}
