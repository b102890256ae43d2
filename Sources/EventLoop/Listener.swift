// SPDX-License-Identifier: MIT
import CLibuv
import Glibc

/// Accepts connections on a Unix socket.
///
/// If the process has no file descriptor left, accepting pauses for a moment and goes on, so that nobody
/// is lost and nothing spins. libuv's own listening would then accept whoever waits only to close it again
/// (`uv__emfile_trick`); that is why this accepts by itself when the loop says that somebody waits.
///
/// Invariant: `descriptor` is a listening socket of this object's from the end of `init` to `close`.
public final class Listener {
    private let loop: EventLoop
    private let handle = Handle<uv_poll_t>()
    private let descriptor: Int32
    /// The file that goes with the socket.
    private let file: SocketFile?
    private let onSocket: (AcceptedSocket) -> Void
    private var retry: Timer?
    private var isClosed = false
    private var isPaused = false

    /// How many are accepted before others have their turn.
    private static let connectionsPerTurn = 64
    /// How long accepting rests when descriptors have run out, in milliseconds.
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
            on: loop, listening: descriptor, file: SocketFile(path), backlog: backlog, action: action,
            onSocket)
    }

    /// Listens on an address of the internet protocol. With port 0 the system chooses one; see `address`.
    public convenience init(
        on loop: EventLoop, address: InternetAddress, backlog: Int32 = 4096,
        _ onSocket: @escaping (AcceptedSocket) -> Void
    ) throws(EventLoopError) {
        try self.init(
            on: loop, listening: try address.bindSocket(), file: nil, backlog: backlog,
            action: "listen on \(address)", onSocket)
    }

    /// Where it listens, if that is an address of the internet protocol.
    public var address: InternetAddress? { isClosed ? nil : InternetAddress(ofSocket: descriptor) }

    /// Listens on a socket that was handed over, as systemd does; its file stays when this ends.
    public convenience init(
        on loop: EventLoop, descriptor: Int32, backlog: Int32 = 4096,
        _ onSocket: @escaping (AcceptedSocket) -> Void
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
        // Sets the descriptor non-blocking, too.
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

    /// Lets those who connect wait in the system until `resume`.
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

    /// Stops accepting, and removes the file of a socket that was made here, unless another took its place.
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

/// A socket's file, which is known again by its place in the file system.
private struct SocketFile {
    private let path: String
    private let status: stat

    /// Nil if it is gone already.
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
