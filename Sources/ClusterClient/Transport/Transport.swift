// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import Glibc
import JSON
import Synchronization
import SystemSupport

/// A connected socket on its own event loop, which runs on its own thread.
///
/// Any thread may send. Messages are written into one buffer that the loop takes at once, so that many
/// calls made at once leave in one write.
final class Transport: Sendable {
    /// Above this many bytes that the system has not accepted, `waitForRoom` waits until half of them are sent.
    static let highWater = 4 << 20

    private struct State: ~Copyable {
        /// Bytes that the loop has not taken yet.
        var pending = ByteWriter()
        /// Bytes that the loop has taken and the system has not accepted.
        var inFlight = 0
        /// Whether the loop has already been asked to take `pending`.
        var isFlushAsked = false
        /// Why the connection ended; nil while it is open.
        var closing: RPCError?

        var isFull: Bool { pending.count + inFlight > Transport.highWater && closing == nil }
    }

    private let state = Monitor(State())
    private let side: LoopBound<LoopSide>
    private let remote: EventLoop.Remote

    private init(_ side: LoopSide, _ remote: EventLoop.Remote) {
        self.side = LoopBound(side)
        self.remote = remote
    }

    /// Connects, on a new thread. `makeOwner` is called on it before anything is read.
    static func connect<Owner: TransportOwner>(
        path: String, _ makeOwner: @escaping @Sendable (Transport) -> Owner
    ) async throws(RPCError) -> Owner {
        let outcome: Result<Owner, RPCError> = await withCheckedContinuation { continuation in
            let isStarted = BackgroundThread.detach {
                Transport.run(path, makeOwner) { continuation.resume(returning: $0) }
            }
            if !isStarted { continuation.resume(returning: .failure(ConnectFailure.noThread)) }
        }
        return try outcome.get()
    }

    /// The thread's body: returns when the connection has ended.
    private static func run<Owner: TransportOwner>(
        _ path: String, _ makeOwner: (Transport) -> Owner, _ report: @escaping (Result<Owner, RPCError>) -> Void
    ) {
        blockBrokenPipeSignal()
        do throws(EventLoopError) {
            let loop = try EventLoop()
            withoutActuallyEscaping(makeOwner) { makeOwner in
                Connection.connect(on: loop, path: path) { result in
                    switch result {
                    case .failure(let error): report(.failure(ConnectFailure.error(error, path: path)))
                    case .success(let connection):
                        let side = LoopSide(connection, on: loop)
                        let transport = Transport(side, loop.remote)
                        let owner = makeOwner(transport)
                        side.start(transport, owner)
                        report(.success(owner))
                    }
                }
                loop.run()
            }
        } catch {
            report(.failure(RPCError(.resourceExhausted, error.description)))
        }
    }

    /// With the signal blocked, a write to a connection that the daemon has closed fails with `EPIPE`.
    /// Unblocked, the signal would end the app. The app's own handling of the signal is unaffected.
    private static func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    // MARK: Sending

    /// Sends the frames that `write` writes, none of them cut.
    func send(_ write: (inout ByteWriter) -> Void) {
        let mustAsk = state.withLock { state in
            guard state.closing == nil else { return false }
            write(&state.pending)
            defer { state.isFlushAsked = true }
            return !state.isFlushAsked
        }
        if mustAsk { post { $0.flush() } }
    }

    /// Returns once few enough bytes are unsent, the connection has ended, or the task is cancelled.
    func waitForRoom() async { try? await state.wait { $0.isFull ? nil : () } }

    func resumeReading() { post { $0.resumeReading() } }

    /// Closes the connection without waiting for unsent bytes.
    func close(_ reason: RPCError) { post { $0.end(reason) } }

    private func post(_ body: @escaping @Sendable (LoopSide) -> Void) {
        let side = side
        remote.post { body(side.value) }
    }

    // MARK: Called by the loop's side

    /// Takes the pending bytes.
    fileprivate func takePending() -> ByteWriter {
        state.withLock { state in
            var taken = ByteWriter()
            swap(&taken, &state.pending)
            state.isFlushAsked = false
            state.inFlight += taken.count
            return taken
        }
    }

    /// The system has accepted all but `remaining` bytes.
    fileprivate func didWrite(remaining: Int) {
        let isRoomy = state.withLock { state in
            state.inFlight = remaining
            return state.pending.count + remaining <= Transport.highWater / 2
        }
        if isRoomy { state.announce() }
    }

    fileprivate func didEnd(_ reason: RPCError) { state.change { $0.closing = reason } }
}

/// The state that only the loop's thread uses.
private final class LoopSide {
    private let connection: Connection
    /// A loop ends when it has nothing left to wait for, and a paused connection does not count. This timer
    /// keeps it running.
    private var keepsLoopRunning: Timer?
    private var transport: Transport?
    private var owner: (any TransportOwner)?
    private var frames = FrameDecoder(limit: MessageLimits.maximumAnswerBytes)
    private let parser = JSONParser()

    init(_ connection: Connection, on loop: EventLoop) {
        self.connection = connection
        let day: UInt64 = 86_400_000
        keepsLoopRunning = Timer(on: loop, delay: day, every: day) {}
    }

    func start(_ transport: Transport, _ owner: any TransportOwner) {
        self.transport = transport
        self.owner = owner
        connection.start { [unowned self] event in
            switch event {
            case .received(let bytes): didRead(bytes.bytes)
            case .written: self.transport?.didWrite(remaining: connection.queuedBytes)
            case .ended(.finished): end(ConnectFailure.lost("the daemon closed it"))
            // The daemon has closed the connection. Its last messages are read first; their end closes this side too.
            case .ended(.failed(EPIPE)): break
            case .ended(.failed(let number)): end(ConnectFailure.lost(ConnectFailure.describe(number)))
            }
        }
    }

    private func didRead(_ bytes: RawSpan) {
        guard let owner else { return }
        frames.append(bytes)
        do throws(RPCError) {
            let parser = parser
            while let message = try frames.next({ ServerMessage.read($0, parser: parser) }) {
                owner.transportReceived(message)
            }
        } catch {
            return end(RPCError(.internal, "the server's stream cannot be read: \(error.message)"))
        }
        if owner.transportShouldPause { connection.pauseReading() }
    }

    /// The owner posts this whenever it has room again, so it runs after the pause that it ends.
    func resumeReading() {
        guard let owner, !owner.transportShouldPause else { return }
        connection.resumeReading()
    }

    func flush() {
        guard let transport, !connection.isClosed else { return }
        let buffer = OutgoingBuffer(transport.takePending())
        buffer.bytes.withBytes { bytes in
            let written = connection.tryWrite(bytes)
            connection.write(bytes.extracting(written...), keeping: buffer)
        }
        transport.didWrite(remaining: connection.queuedBytes)
    }

    func end(_ reason: RPCError) {
        guard let owner else { return }
        connection.close()
        keepsLoopRunning = nil
        transport?.didEnd(reason)
        self.owner = nil
        transport = nil
        owner.transportClosed(reason)
    }
}

/// Bytes that are being sent. A `ByteWriter`'s memory does not move while nothing is written into it, and nothing is.
private final class OutgoingBuffer {
    let bytes: ByteWriter
    init(_ bytes: consuming ByteWriter) { self.bytes = bytes }
}

/// Receives a transport's events, always on the loop's thread and one at a time.
protocol TransportOwner: AnyObject, Sendable {
    func transportReceived(_ message: ServerMessage)
    /// Whether to stop reading until `Transport.resumeReading`; checked after what was read at once.
    var transportShouldPause: Bool { get }
    /// Called once; nothing follows it.
    func transportClosed(_ error: RPCError)
}

/// Explains why a client cannot connect, and what to do about it.
enum ConnectFailure {
    static let noThread = RPCError(.resourceExhausted, "no thread could be started for the connection")

    static func error(_ failure: EventLoopError, path: String) -> RPCError {
        let start = "start the daemon (clusterd --socket \(path)), or name its socket by --socket or $CLUSTERD_SOCKET"
        switch failure.number {
        case ENOENT: return RPCError(.unavailable, "there is no socket at \(path): \(start)")
        case ECONNREFUSED: return RPCError(.unavailable, "no daemon listens at \(path): \(start)")
        case EACCES, EPERM:
            return RPCError(
                .permissionDenied,
                "permission to open the socket \(path) is denied; its mode and its group decide who may open it"
            )
        case ENAMETOOLONG:
            return RPCError(.invalidArgument, "the socket's path is longer than 107 bytes: \(path)")
        case EAGAIN:
            return RPCError(.unavailable, "the daemon at \(path) has too many connections waiting: try again")
        default: return RPCError(.unavailable, "\(failure.description): \(start)")
        }
    }

    /// Chooses one error for several sockets that do not answer: that of the socket that exists but may not
    /// be opened, if there is one.
    static func error(of failures: [RPCError], paths: [String]) -> RPCError {
        let denied = failures.first { $0.code == .permissionDenied }
        if failures.count == 1 || denied != nil { return denied ?? failures[0] }
        return RPCError(
            .unavailable,
            "no daemon answers at \(paths.joined(separator: " or ")): start the daemon, or name its socket by --socket or $CLUSTERD_SOCKET"
        )
    }

    static func lost(_ why: String) -> RPCError {
        RPCError(.unavailable, "the connection to the daemon was lost: \(why)")
    }

    /// The text of a system error number.
    static func describe(_ number: Int32) -> String { String(cString: strerror(number)) }
}
