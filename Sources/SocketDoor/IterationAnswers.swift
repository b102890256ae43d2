// SPDX-License-Identifier: MIT
import Calls
import JSON

/// What the sockets that were ready together have to do: all are read, then all that came is worked on, then all
/// answers are written. A client of several connections is woken once and finds more to do, and a processor goes
/// through the same code for each connection while it has it at hand. Belongs to the loop's thread.
final class IterationAnswers {
    private var received: [SocketConnection] = []
    /// The connections whose messages are being worked on; empty otherwise.
    private var working: [SocketConnection] = []
    private var answered: [SocketConnection] = []
    private var spare: [OutgoingBytes] = []

    /// Beyond these, who waits has its turn at once.
    private static let mostConnections = 32
    private static let spareCapacity = 20 << 10

    /// A buffer for a turn's answers; to be given back.
    func borrow() -> OutgoingBytes {
        spare.popLast() ?? OutgoingBytes(ByteWriter(capacity: Self.spareCapacity))
    }

    func giveBack(_ buffer: OutgoingBytes) {
        guard spare.count < Self.mostConnections, buffer.writer.count == 0 else { return }
        spare.append(buffer)
    }

    /// Works on what the connection has received at the end of the loop's iteration.
    func add(received connection: SocketConnection) {
        received.append(connection)
        if received.count >= Self.mostConnections { work() }
    }

    /// Writes the connection's answers at the end of the loop's iteration.
    func add(answered connection: SocketConnection) {
        answered.append(connection)
        if answered.count >= Self.mostConnections { write() }
    }

    /// The end of the loop's iteration.
    func work() {
        if !received.isEmpty, working.isEmpty {
            swap(&received, &working)
            for place in working.indices { working[place].workOff() }
            working.removeAll(keepingCapacity: true)
        }
        write()
    }

    private func write() {
        guard !answered.isEmpty else { return }
        let ready = answered
        answered.removeAll(keepingCapacity: true)
        for connection in ready { connection.writeTurn() }
    }
}
