// SPDX-License-Identifier: MIT
import Synchronization

/// Connections that the server has refused. They stay open for a moment so that their clients can read why: if a socket
/// is closed while it has unread input, the peer loses what it has not read (tcp(7)). Belongs to the loop's thread.
public final class LingeringConnections {
    private struct Entry {
        let connection: Connection
        let timer: Timer
    }

    private let loop: EventLoop
    private var entries: [ObjectIdentifier: Entry] = [:]

    /// The number of connections on all loops.
    private static let open = Atomic<Int>(0)
    /// Further ones are closed at once: nobody counts these connections, and descriptors must be left for files.
    private static let most = 16
    /// How long a client has to read, in milliseconds.
    private static let time: UInt64 = 1000

    public init(on loop: EventLoop) { self.loop = loop }

    /// Discards what the client sends, until it has closed the connection or a second has passed.
    ///
    /// - Parameter connection: has been written to, but has not started to read.
    public func add(_ connection: Connection) {
        guard Self.open.add(1, ordering: .relaxed).newValue <= Self.most else {
            Self.open.subtract(1, ordering: .relaxed)
            return connection.close()
        }
        let id = ObjectIdentifier(connection)
        let timer = Timer(on: loop, delay: Self.time) { [weak self] in self?.close(id) }
        timer.unreference()
        entries[id] = Entry(connection: connection, timer: timer)
        connection.finishWriting()
        connection.start { [weak self] event in
            if case .ended = event { self?.close(id) }
        }
    }

    private func close(_ id: ObjectIdentifier) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entry.connection.close()
        Self.open.subtract(1, ordering: .relaxed)
    }

    /// Closes all of them at once.
    public func close() {
        for id in Array(entries.keys) { close(id) }
    }

    deinit { close() }
}
