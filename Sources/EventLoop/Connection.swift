// SPDX-License-Identifier: MIT
import CLibuv
import Glibc

/// A stream socket: reads bytes as they arrive, and writes in order.
public final class Connection {
    /// Why a connection ended.
    public enum End: Sendable, Equatable {
        /// The peer sends nothing more; it may still read.
        case finished
        /// Reading or writing failed with a system error number.
        case failed(Int32)
    }

    /// What a started connection reports.
    public enum Event {
        /// Bytes arrived; they are valid during the call.
        case received(UnsafeRawBufferPointer)
        /// The system has accepted bytes that had to wait.
        case written
        /// Nothing more will be read; reported again if writing fails after that. The connection must still be closed.
        case ended(End)
    }

    let handle = Handle<uv_pipe_t>()
    private let loop: EventLoop
    /// One closure for all events: each closure of an idle connection takes 50 bytes.
    private var onEvent: ((Event) -> Void)?
    /// Whether bytes are read as they arrive.
    public private(set) var isReading = false
    public private(set) var isClosed = false
    /// Bytes passed to `write` that the system has not accepted yet.
    public private(set) var queuedBytes = 0
    /// The most bytes that one event reports; the rest follows, unless reading is paused.
    public var mostReceived = Int.max

    init(on loop: EventLoop) {
        self.loop = loop
        uv_pipe_init(loop.raw, handle.raw, 0)
        handle.setOwner(self)
    }

    /// Takes ownership of a connected socket; returns false if libuv rejects it, in which case the descriptor
    /// is closed.
    func adopt(_ descriptor: Int32) -> Bool {
        guard uv_pipe_open(handle.raw, descriptor) == 0 else {
            Glibc.close(descriptor)
            return false
        }
        return true
    }

    /// Connects to a Unix socket; `completion` is called on the loop.
    public static func connect(
        on loop: EventLoop, path: String, _ completion: @escaping (Result<Connection, EventLoopError>) -> Void
    ) {
        let attempt = Attempt(connection: Connection(on: loop), path: path, completion: completion)
        guard path.utf8.count < 108 else {
            attempt.connection.close()
            return completion(.failure(EventLoopError(number: ENAMETOOLONG, action: "connect to \(path)")))
        }
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(attempt).toOpaque()
        uv_pipe_connect(request, attempt.connection.handle.raw, path) { request, status in
            guard let request, let data = request.pointee.data else { return }
            request.deallocate()
            Unmanaged<Attempt>.fromOpaque(data).takeRetainedValue().finish(status)
        }
    }

    private final class Attempt {
        let connection: Connection
        let path: String
        let completion: (Result<Connection, EventLoopError>) -> Void

        init(connection: Connection, path: String, completion: @escaping (Result<Connection, EventLoopError>) -> Void) {
            self.connection = connection
            self.path = path
            self.completion = completion
        }

        func finish(_ status: Int32) {
            guard status == 0 else {
                connection.close()
                return completion(.failure(EventLoopError(number: -status, action: "connect to \(path)")))
            }
            completion(.success(connection))
        }
    }

    /// Sets the callback and begins to read. Nothing is reported after `close`.
    public func start(_ onEvent: @escaping (Event) -> Void) {
        self.onEvent = onEvent
        resumeReading()
    }

    public func resumeReading() {
        guard !isReading, !isClosed else { return }
        isReading = true
        uv_read_start(
            handle.stream,
            { handle, _, buffer in
                guard let connection = Handle<uv_pipe_t>.owner(handle?.pointee.data, as: Connection.self) else {
                    buffer?.pointee = uv_buf_init(nil, 0)
                    return
                }
                let memory = connection.loop.readBuffer
                buffer?.pointee = uv_buf_init(
                    memory.baseAddress?.assumingMemoryBound(to: CChar.self),
                    UInt32(clamping: min(memory.count, connection.mostReceived)))
            },
            { stream, count, _ in Handle<uv_pipe_t>.owner(stream?.pointee.data, as: Connection.self)?.didRead(count) })
    }

    /// Stops reading: the peer's bytes wait in the system, which makes the peer wait.
    public func pauseReading() {
        guard isReading, !isClosed else { return }
        isReading = false
        uv_read_stop(handle.stream)
    }

    private func didRead(_ count: Int) {
        if count > 0 {
            loop.polling?.inputArrived()
            onEvent?(.received(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count])))
        } else if count < 0 {
            pauseReading()
            onEvent?(.ended(count == Int(UV_EOF.rawValue) ? .finished : .failed(Int32(clamping: -count))))
        }
    }

    /// Nil once the connection is closed.
    private var descriptor: Int32? {
        var descriptor: uv_os_fd_t = -1
        return !isClosed && uv_fileno(handle.base, &descriptor) == 0 ? descriptor : nil
    }

    /// Whether the peer has closed the connection completely instead of only ending its side (poll(2)).
    public var isAbandoned: Bool {
        guard let descriptor else { return true }
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Writes as much as the system accepts at once.
    ///
    /// - Returns: the number of bytes accepted; 0 while earlier bytes are waiting.
    public func tryWrite(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isClosed, queuedBytes == 0, !bytes.isEmpty else { return 0 }
        var buffer = Self.buffer(bytes)
        return max(0, Int(uv_try_write(handle.stream, &buffer, 1)))
    }

    /// Writes two pieces, one after the other, as much as the system accepts at once.
    ///
    /// - Returns: the number of bytes of both that were accepted; 0 while earlier bytes are waiting.
    public func tryWrite(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard !isClosed, queuedBytes == 0 else { return 0 }
        var buffers = (Self.buffer(first), Self.buffer(second))
        return withUnsafeMutablePointer(to: &buffers) { buffers in
            buffers.withMemoryRebound(to: uv_buf_t.self, capacity: 2) {
                max(0, Int(uv_try_write(handle.stream, $0, 2)))
            }
        }
    }

    private static func buffer(_ bytes: UnsafeRawBufferPointer) -> uv_buf_t {
        uv_buf_init(
            UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)),
            UInt32(clamping: bytes.count))
    }

    /// Sends small writes at once instead of coalescing them (tcp(7), TCP_NODELAY). Has no effect on sockets
    /// of other kinds.
    public func sendAtOnce() {
        guard let descriptor else { return }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The peer's address; nil for a Unix socket.
    public var peerAddress: InternetAddress? {
        descriptor.flatMap { InternetAddress(ofPeer: $0) }
    }

    /// Writes bytes without copying them.
    ///
    /// - Parameters:
    ///   - bytes: less than 4 GiB; they must not change during `owner`'s lifetime.
    ///   - owner: retained until the system has accepted the bytes.
    public func write(_ bytes: UnsafeRawBufferPointer, keeping owner: AnyObject) {
        guard !isClosed, !bytes.isEmpty else { return }
        let pending = PendingWrite(connection: self, owner: owner, count: bytes.count)
        let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(pending).toOpaque()
        var buffer = Self.buffer(bytes)
        queuedBytes += bytes.count
        let status = uv_write(request, handle.stream, &buffer, 1) { request, status in
            guard let request, let data = request.pointee.data else { return }
            request.deallocate()
            Unmanaged<PendingWrite>.fromOpaque(data).takeRetainedValue().finish(status)
        }
        if status != 0 {
            request.deallocate()
            Unmanaged.passUnretained(pending).release()
            queuedBytes -= bytes.count
        }
    }

    private final class PendingWrite {
        let connection: Connection
        let owner: AnyObject
        let count: Int

        init(connection: Connection, owner: AnyObject, count: Int) {
            self.connection = connection
            self.owner = owner
            self.count = count
        }

        func finish(_ status: Int32) {
            connection.queuedBytes -= count
            guard !connection.isClosed else { return }
            connection.onEvent?(status < 0 ? .ended(.failed(-status)) : .written)
        }
    }

    /// The number of bytes that wait for the peer to read; it falls with each part that the system accepts,
    /// also within one write.
    public var unwrittenBytes: Int { isClosed ? 0 : uv_stream_get_write_queue_size(handle.stream) }

    /// The number of bytes in the system that the peer has not read. It is the system's own count, which
    /// falls as the peer reads parts of tens of kilobytes (SIOCOUTQ, unix(7) and tcp(7)).
    public var bytesInSystem: Int {
        guard let descriptor else { return 0 }
        var count: Int32 = 0
        return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }

    /// Accepts nothing more from the peer, whose writes fail from now on; what it has already sent is still read.
    public func finishReading() {
        guard let descriptor else { return }
        _ = shutdown(descriptor, Int32(SHUT_RD))
    }

    /// Shuts down this side's writing half; reading continues. Call it when nothing waits to be written.
    public func finishWriting() {
        guard let descriptor else { return }
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the connection at once; waiting bytes are lost. Safe to call again.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        onEvent = nil
        handle.close()
    }

    /// The peer's process, as reported by the system (SO_PEERCRED, unix(7)).
    public var peer: (processID: Int32, userID: UInt32, groupID: UInt32)? {
        guard let descriptor else { return nil }
        // struct ucred is hidden behind _GNU_SOURCE: three integers, pid, uid, gid.
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials
    }

    /// The supplementary groups of the peer's process when it connected (SO_PEERGROUPS, Linux 4.13); empty if
    /// the system does not report them.
    public var peerGroups: [UInt32] {
        guard let descriptor else { return [] }
        var groups = [UInt32](repeating: 0, count: 32)
        // If the buffer is too small, the system reports the required size; a process has at most 65536 groups.
        for _ in 0..<2 {
            var length = socklen_t(groups.count * MemoryLayout<UInt32>.stride)
            let status = getsockopt(descriptor, SOL_SOCKET, Self.peerGroupsOption, &groups, &length)
            let count = Int(length) / MemoryLayout<UInt32>.stride
            if status == 0 { return Array(groups.prefix(count)) }
            guard errno == ERANGE, count > groups.count, count <= 1 << 16 else { return [] }
            groups = [UInt32](repeating: 0, count: count)
        }
        return []
    }

    /// SO_PEERGROUPS, which Swift's Glibc module does not import.
    private static let peerGroupsOption: Int32 = 59

    deinit { close() }
}

extension Connection {
    /// Writes as much as the system accepts at once.
    ///
    /// - Returns: the number of bytes accepted; 0 while earlier bytes are waiting.
    public func tryWrite(_ bytes: Span<UInt8>) -> Int { bytes.withUnsafeBytes { tryWrite($0) } }

    /// Writes two pieces, one after the other, as much as the system accepts at once.
    ///
    /// - Returns: the number of bytes of both that were accepted; 0 while earlier bytes are waiting.
    public func tryWrite(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Int {
        first.withUnsafeBytes { first in second.withUnsafeBytes { tryWrite(first, $0) } }
    }

    /// Writes bytes without copying them.
    ///
    /// - Parameters:
    ///   - bytes: less than 4 GiB; they must be at the same address, and not change, during `owner`'s lifetime.
    ///   - owner: retained until the system has accepted the bytes.
    public func write(_ bytes: Span<UInt8>, keeping owner: AnyObject) {
        bytes.withUnsafeBytes { write($0, keeping: owner) }
    }
}
