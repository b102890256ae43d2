// SPDX-License-Identifier: MIT
import CLibuv
import Glibc
import Synchronization

/// Accepts connections on a stream socket.
///
/// If the process has no file descriptor left, accepting pauses briefly and continues, so that no client is
/// lost and nothing busy-waits. libuv's own listening would then accept waiting clients only to close them
/// (`uv__emfile_trick`), so this class accepts by itself when the loop reports that a client is waiting.
///
/// Invariant: `descriptor` is a listening socket that this object owns from the end of `init` to `close`.
public final class Listener {
    private let loop: EventLoop
    private let handle = Handle<uv_poll_t>()
    private let descriptor: Int32
    /// The file of the socket; nil if it has none or did not create it.
    private let file: SocketFile?
    private let onSocket: (AcceptedSocket) -> Void
    private var retry: Timer?
    private var isClosed = false
    private var isPaused = false

    /// How many connections are accepted before other work gets a turn.
    private static let connectionsPerTurn = 64
    /// How long accepting pauses when descriptors have run out, in milliseconds.
    private static let rest: UInt64 = 50

    /// Listens on a new socket file. The path must be free.
    ///
    /// - Parameter mode: the file's permissions.
    public convenience init(
        on loop: EventLoop, path: String, mode: mode_t = 0o666, backlog: Int32 = 4096,
        _ onSocket: @escaping (AcceptedSocket) -> Void
    ) throws(EventLoopError) {
        let action = "listen on \(path)"
        guard let address = UnixSocketAddress(path: path) else {
            throw EventLoopError(number: ENAMETOOLONG, action: action)
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw EventLoopError(number: errno, action: action) }
        guard address.bind(descriptor) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw EventLoopError(number: number, action: action)
        }
        _ = chmod(path, mode)
        try self.init(
            on: loop, listening: descriptor, file: SocketFile(path), backlog: backlog, action: action, onSocket)
    }

    /// Listens on an internet address. With port 0 the system chooses a port; see `address`.
    public convenience init(
        on loop: EventLoop, address: InternetAddress, backlog: Int32 = 4096,
        _ onSocket: @escaping (AcceptedSocket) -> Void
    ) throws(EventLoopError) {
        try self.init(
            on: loop, listening: try address.bindSocket(), file: nil, backlog: backlog,
            action: "listen on \(address)", onSocket)
    }

    /// The listening address, if it is an internet address.
    public var address: InternetAddress? { isClosed ? nil : InternetAddress(ofSocket: descriptor) }

    /// Listens on a socket that was handed over, for example by systemd; its file remains when this ends.
    public convenience init(
        on loop: EventLoop, descriptor: Int32, backlog: Int32 = 4096, _ onSocket: @escaping (AcceptedSocket) -> Void
    ) throws(EventLoopError) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        try self.init(
            on: loop, listening: descriptor, file: nil, backlog: backlog,
            action: "use the socket handed over",
            onSocket)
    }

    private init(
        on loop: EventLoop, listening descriptor: Int32, file: SocketFile?, backlog: Int32, action: String,
        _ onSocket: @escaping (AcceptedSocket) -> Void
    ) throws(EventLoopError) {
        self.loop = loop
        self.descriptor = descriptor
        self.file = file
        self.onSocket = onSocket
        var failure = Glibc.listen(descriptor, backlog) == 0 ? 0 : -errno
        // This also makes the descriptor non-blocking.
        if failure == 0 { failure = uv_poll_init(loop.raw, handle.raw, descriptor) }
        guard failure == 0 else {
            isClosed = true
            handle.discard()
            Glibc.close(descriptor)
            throw EventLoopError(number: -failure, action: action)
        }
        handle.setOwner(self)
        watch()
    }

    private func watch() {
        guard !isClosed, !isPaused, retry == nil else { return }
        uv_poll_start(handle.raw, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            Handle<uv_poll_t>.owner(handle?.pointee.data, as: Listener.self)?.accept()
        }
    }

    private func accept() {
        for _ in 0..<Self.connectionsPerTurn {
            guard !isClosed, !isPaused else { return }
            let accepted = Glibc.accept(descriptor, nil, nil)
            guard accepted >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EAGAIN: return
                default: return restForAMoment()
                }
            }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            onSocket(AcceptedSocket(accepted))
        }
    }

    /// Stops accepting until `resume`: connecting clients wait in the socket's queue.
    public func pause() {
        guard !isPaused, !isClosed else { return }
        isPaused = true
        uv_poll_stop(handle.raw)
    }

    public func resume() {
        guard isPaused else { return }
        isPaused = false
        watch()
    }

    private func restForAMoment() {
        uv_poll_stop(handle.raw)
        retry = Timer(on: loop, delay: Self.rest) { [weak self] in
            self?.retry = nil
            self?.watch()
        }
    }

    /// Stops accepting, and removes the socket's file if it was created here and has not been replaced.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        retry = nil
        handle.close()
        Glibc.close(descriptor)
        file?.remove()
    }

    deinit { close() }
}

/// A socket's file, identified by its device and inode.
private struct SocketFile {
    private let path: String
    private let status: stat

    /// Nil if it no longer exists.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (self.path, self.status) = (path, status)
    }

    func remove() {
        guard let now = SocketFile(path), now.status.st_ino == status.st_ino,
            now.status.st_dev == status.st_dev
        else { return }
        unlink(path)
    }
}

/// A connected socket that no loop watches yet. Safe from any thread; closed when this object is released,
/// unless a connection has taken it.
public final class AcceptedSocket: Sendable {
    /// -1 once taken.
    private let descriptor: Atomic<Int32>

    init(_ descriptor: Int32) { self.descriptor = Atomic(descriptor) }

    func take() -> Int32 { descriptor.exchange(-1, ordering: .acquiringAndReleasing) }

    deinit {
        let left = take()
        if left >= 0 { close(left) }
    }
}

extension Connection {
    /// Makes a loop's connection from an accepted socket; nil if the system refuses it, in which case the
    /// socket is closed.
    public convenience init?(on loop: EventLoop, taking socket: AcceptedSocket) {
        self.init(on: loop)
        guard adopt(socket.take()) else {
            close()
            return nil
        }
    }
}
