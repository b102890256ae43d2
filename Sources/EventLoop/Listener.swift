// SPDX-License-Identifier: MIT
import CLibuv
import Glibc

/// Accepts connections on a Unix socket.
///
/// Where the process has no file descriptor left, accepting pauses for a moment and goes on, so that nobody
/// is lost and nothing spins.
public final class Listener {
    private let loop: EventLoop
    private let handle = Handle<uv_pipe_t>()
    private let onConnection: (Connection) -> Void
    private var retry: Timer?
    private var isClosed = false
    private var isPaused = false
    /// libuv holds a connection that nobody has taken; until then it watches for no others.
    private var isWaiting = false

    /// Listens on a new socket file. The path must be free.
    ///
    /// - Parameter mode: the file's permissions.
    public init(
        on loop: EventLoop, path: String, mode: mode_t = 0o666, backlog: Int32 = 4096,
        _ onConnection: @escaping (Connection) -> Void
    ) throws(EventLoopError) {
        self.loop = loop
        self.onConnection = onConnection
        uv_pipe_init(loop.raw, handle.raw, 0)
        handle.setOwner(self)
        guard path.utf8.count < 108 else {
            throw EventLoopError(number: ENAMETOOLONG, action: "listen on \(path)")
        }
        try EventLoopError.check(uv_pipe_bind(handle.raw, path), "listen on \(path)")
        _ = chmod(path, mode)
        try listen(backlog, path)
    }

    /// Listens on a socket that was handed over, as systemd does.
    public init(
        on loop: EventLoop, descriptor: Int32, backlog: Int32 = 4096,
        _ onConnection: @escaping (Connection) -> Void
    ) throws(EventLoopError) {
        self.loop = loop
        self.onConnection = onConnection
        uv_pipe_init(loop.raw, handle.raw, 0)
        handle.setOwner(self)
        try EventLoopError.check(uv_pipe_open(handle.raw, descriptor), "use the socket handed over")
        try listen(backlog, "the socket handed over")
    }

    private func listen(_ backlog: Int32, _ name: String) throws(EventLoopError) {
        let status = uv_listen(handle.stream, backlog) { stream, status in
            Handle<uv_pipe_t>.owner(stream?.pointee.data, as: Listener.self)?.accept(status)
        }
        try EventLoopError.check(status, "listen on \(name)")
    }

    private func accept(_ status: Int32) {
        guard !isClosed else { return }
        guard status == 0 else { return retryLater() }
        guard !isPaused else {
            isWaiting = true
            return
        }
        let connection = Connection(on: loop)
        let accepted = uv_accept(handle.stream, connection.handle.stream)
        guard accepted == 0 else {
            connection.close()
            if accepted != UV_EAGAIN.rawValue { retryLater() }
            return
        }
        onConnection(connection)
    }

    /// Lets those who connect wait in the system until `resume`.
    public func pause() { isPaused = true }

    public func resume() {
        isPaused = false
        guard isWaiting else { return }
        isWaiting = false
        accept(0)
    }

    /// libuv stops watching a listener whose accept failed until it is asked again.
    private func retryLater() {
        guard retry == nil else { return }
        retry = Timer(on: loop, delay: 50) { [weak self] in
            guard let self, !self.isClosed else { return }
            self.retry = nil
            self.accept(0)
        }
    }

    /// Stops accepting. libuv removes the file of a socket that it bound.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        retry = nil
        handle.close()
    }

    deinit { close() }
}
