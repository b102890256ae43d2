// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON
import RPC

/// The connections of one transport on one loop: counts them, closes those whose clients do not read, and ends them
/// all. Belongs to the loop's thread.
package final class ServedConnections<Served: ServedConnection> {
    private let engine: CallEngine
    private let loop: EventLoop
    private let onClosed: @Sendable () -> Void
    private let refused: LingeringConnections
    private var connections: [ObjectIdentifier: Served] = [:]
    private var graceTimer: Timer?
    private var onStopped: (() -> Void)?
    /// Whether `shutDown` was called.
    package private(set) var isShuttingDown = false

    /// - Parameter onClosed: called on the loop's thread for each connection that has closed.
    package init(_ engine: CallEngine, on loop: EventLoop, onClosed: @escaping @Sendable () -> Void) {
        (self.engine, self.loop, self.onClosed) = (engine, loop, onClosed)
        refused = LingeringConnections(on: loop)
    }

    package var isEmpty: Bool { connections.isEmpty }

    /// All connections; they may be removed meanwhile.
    package var all: [Served] { Array(connections.values) }

    package func add(_ connection: Served) {
        takeOver(connection)
        engine.metrics.update { counters in
            counters.connectionsOpened += 1
            counters.connections += 1
        }
    }

    /// Adds a connection that another transport has handed over, which is counted already.
    package func takeOver(_ connection: Served) { connections[ObjectIdentifier(connection)] = connection }

    /// Releases a connection whose client another transport serves from now on.
    package func handOver(_ connection: Served) {
        _ = connection.life.close()
        connection.caller.close()
        connections[ObjectIdentifier(connection)] = nil
        finishIfEmpty()
    }

    /// Releases a connection that has closed; returns false if it was not here.
    package func remove(_ connection: Served) -> Bool {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return false }
        engine.load.users.leave(connection.caller.share)
        engine.metrics.update { $0.connections -= 1 }
        return true
    }

    /// Closes a connection that is not served, after its client had time to read why.
    ///
    /// - Parameter reason: what to write.
    package func refuse(_ socket: Connection, _ reason: borrowing ByteWriter) {
        _ = reason.withBytes { socket.tryWrite($0) }
        if isShuttingDown { socket.close() } else { refused.add(socket) }
        countClosed()
    }

    /// A connection that the load has counted is closed.
    package func countClosed() {
        engine.load.addConnections(-1)
        onClosed()
        finishIfEmpty()
    }

    /// Closes stalled clients while answers that wait take too much memory, beginning with those that hold the most and
    /// have been stalled longest.
    package func makeRoom(_ now: UInt64) {
        guard engine.load.unread.isSpent else { return }
        let worst = connections.values.map { (connection: $0, weight: $0.stallWeight(at: now)) }
            .filter { $0.weight > 0 }.sorted { $0.weight > $1.weight }
        for (connection, _) in worst {
            guard engine.load.unread.isSpent else { return }
            closeStalled(connection)
        }
    }

    /// Closes a connection whose client does not read.
    package func closeStalled(_ connection: Served) {
        engine.metrics.update { $0.connectionsStalled += 1 }
        connection.close()
    }

    /// Calls in flight may finish within the grace time; then everything is closed.
    ///
    /// - Parameter completion: called once, when no connection is left.
    package func shutDown(_ completion: @escaping () -> Void) {
        guard !isShuttingDown else { return }
        (isShuttingDown, onStopped) = (true, completion)
        refused.close()
        graceTimer = Timer(on: loop, delay: UInt64(max(0, engine.limits.shutdownGraceMs))) { [unowned self] in
            for connection in all {
                connection.close(RPCError(.unavailable, "The server has shut down. Try again soon."))
            }
        }
        for connection in all { connection.drain() }
        finishIfEmpty()
    }

    private func finishIfEmpty() {
        guard connections.isEmpty, let completion = onStopped else { return }
        (graceTimer, onStopped) = (nil, nil)
        completion()
    }
}
