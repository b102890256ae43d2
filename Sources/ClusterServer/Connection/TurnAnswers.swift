// SPDX-License-Identifier: MIT
import JSON

/// Answers of the sockets that were ready together, written together once all have been worked on: a client
/// of several connections is woken once and finds more to do. Belongs to the loop's thread.
final class TurnAnswers {
    private var waiting: [ServerConnection] = []
    private var spare: [OutgoingBytes] = []

    /// Beyond these, who waits is written to at once.
    private static let mostConnections = 32
    private static let spareCapacity = 1 << 16

    /// A buffer for a turn's answers; to be given back.
    func borrow() -> OutgoingBytes {
        spare.popLast() ?? OutgoingBytes(ByteWriter(capacity: Self.spareCapacity))
    }

    func giveBack(_ buffer: OutgoingBytes) {
        guard spare.count < Self.mostConnections, buffer.writer.count == 0 else { return }
        spare.append(buffer)
    }

    /// Writes the connection's answers at the end of the loop's turn.
    func add(_ connection: ServerConnection) {
        waiting.append(connection)
        if waiting.count >= Self.mostConnections { write() }
    }

    func write() {
        guard !waiting.isEmpty else { return }
        let ready = waiting
        waiting.removeAll(keepingCapacity: true)
        for connection in ready { connection.writeTurn() }
    }
}
