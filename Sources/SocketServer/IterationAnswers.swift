// SPDX-License-Identifier: MIT
import RPC
import JSON

/// The work of the sockets that became ready together: all are read, then all received messages are processed,
/// then all answers are written. So a client with several connections is woken once and finds more to do, and a
/// processor runs the same code for each connection while that is in its caches. Belongs to the loop's thread.
final class IterationAnswers {
    private var received: [SocketConnection] = []
    /// The connections whose messages are being processed; empty otherwise.
    private var working: [SocketConnection] = []
    private var answered: [SocketConnection] = []
    private var spare: [OutgoingBytes] = []

    /// With this many connections waiting, they are processed at once.
    private static let mostConnections = 32
    private static let spareCapacity = 20 << 10

    /// Lends a buffer for a turn's answers; return it with `giveBack`.
    func borrow() -> OutgoingBytes {
        spare.popLast() ?? OutgoingBytes(ByteWriter(capacity: Self.spareCapacity))
    }

    func giveBack(_ buffer: OutgoingBytes) {
        guard spare.count < Self.mostConnections, buffer.writer.count == 0 else { return }
        spare.append(buffer)
    }

    /// Processes what the connection has received, at the end of the loop's iteration.
    func add(received connection: SocketConnection) {
        received.append(connection)
        if received.count >= Self.mostConnections { work() }
    }

    /// Writes the connection's answers at the end of the loop's iteration.
    func add(answered connection: SocketConnection) {
        answered.append(connection)
        if answered.count >= Self.mostConnections { write() }
    }

    /// Called at the end of the loop's iteration.
    func work() {
        if !received.isEmpty, working.isEmpty {
            swap(&received, &working)
            for index in working.indices { working[index].workOff() }
            working.removeAll(keepingCapacity: true)
        }
        write()
    }

    private func write() {
        guard !answered.isEmpty else { return }
        let ready = answered
        answered.removeAll(keepingCapacity: true)
        for connection in ready { connection.writeAnswers() }
    }
}
