// SPDX-License-Identifier: MIT

/// Connections that the server has refused. They stay open for a moment so that their clients can read why: if a socket
/// is closed while it has unread input, the peer loses what it has not read (tcp(7)). Belongs to the loop's thread.
public final class LingeringConnections {
    private struct Entry {
        let connection: Connection
        let timer: Timer
    }

    private let loop: EventLoop
    private var entries: [ObjectIdentifier: Entry] = [:]

    /// The maximum number of connections; further ones are closed at once.
    static let most = 64
    /// How long a client has to read, in milliseconds.
    private static let time: UInt64 = 1000

    public init(on loop: EventLoop) { self.loop = loop }

    /// Discards what the client sends, until it has closed the connection or a second has passed.
    ///
    /// - Parameter connection: has been written to, but has not started to read.
    public func add(_ connection: Connection) {
        guard entries.count < Self.most else { return connection.close() }
        let id = ObjectIdentifier(connection)
        let timer = Timer(on: loop, delay: Self.time) { [weak self] in self?.close(id) }
        timer.unreference()
        entries[id] = Entry(connection: connection, timer: timer)
        connection.finishWriting()
        connection.start(onRead: { _ in }, onWritten: {}, onEnd: { [weak self] _ in self?.close(id) })
    }

    private func close(_ id: ObjectIdentifier) { entries.removeValue(forKey: id)?.connection.close() }

    /// Closes all of them at once.
    public func close() {
        for entry in entries.values { entry.connection.close() }
        entries = [:]
    }
}
