// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON

/// A client's connection. It turns frames into calls, and their answers into frames; the answers of a turn are
/// written together. Belongs to the loop's thread.
final class SocketConnection {
    /// Holds this connection until it closes.
    let server: SocketServer
    let socket: Connection
    private(set) var caller: Caller! = nil
    var life = ConnectionLife()
    var decoder: FrameDecoder
    /// The server's count of this connection's unfinished messages.
    var input: InputMeter
    /// The answers that are written by the end of the turn. While it collects answers it is a buffer lent by the
    /// server, and `buffer` is the object to return it in. So idle connections have no buffer.
    var output = ByteWriter(capacity: 0)
    private var buffer: OutgoingBytes?
    /// Runs while a client that is still sending has time to read why its connection ends.
    private var lingering: Timer?
    /// Whether the notice of the server's shutdown is still to be sent.
    private var owesNotice = false
    /// Tracks when the client last read or sent.
    private var progress = ClientProgress()
    /// Bytes passed to the system since the connection began.
    private var handedBytes: UInt64 = 0
    /// Complete messages received since the connection began.
    var messages = 0
    /// Kept from one large message to the next while calls are open: its memory is about ten times a message.
    var largeParser: LargeParser?

    init(_ socket: Connection, peer: Peer, share: UserShare, server: SocketServer) {
        self.server = server
        self.socket = socket
        decoder = FrameDecoder(limit: server.engine.limits.maxMessageBytes)
        input = InputMeter(server.engine.load.input, share)
        caller = Caller(
            server.engine, peer: peer, right: server.engine.access.right(of: peer), share: share,
            transport: self)
    }

    func start() {
        // Not weak, because that would permanently slow down every other reference. The socket makes no calls
        // after its `close`, and the server releases this object only after that.
        socket.start { [unowned self] event in
            switch event {
            case .received(let bytes): read(bytes)
            case .written: written()
            case .ended(let end): ended(end)
            }
        }
    }

    /// A client that has closed its connection gets nothing more; one that only ended its side gets its answers.
    private func ended(_ end: Connection.End) {
        workOff()
        guard end == .finished, life.phase == .open, !socket.isAbandoned else { return close() }
        life.inputFinished()
        turn()
    }

    // MARK: Input

    private func read(_ bytes: UnsafeRawBufferPointer) {
        server.bytesReceived += UInt64(bytes.count)
        guard life.isOpen else { return }
        decoder.append(bytes)
        // More bytes may follow at once, endlessly.
        switch life.received(isMuch: decoder.waiting >= Self.mostDeferred) {
        case .workNow: turn(writesLater: true)
        case .deferred: server.iterationAnswers.add(received: self)
        case .keep, .discard: break
        }
    }

    /// Processes what has waited until the other sockets were read.
    func workOff() { if life.iterationEnded() { turn(writesLater: true) } }

    /// From this many received bytes, messages are not left to the end of the loop's iteration.
    private static let mostDeferred = 1 << 14

    /// Processes a number of messages, writes their answers, and leaves the rest for the next turn.
    ///
    /// - Parameter writesLater: whether small answers can be written at the end of the loop's iteration.
    func turn(writesLater: Bool = false) {
        guard life.beginWork() else { return }
        if buffer == nil, output.count == 0 { borrowBuffer() }
        var left = server.engine.limits.messagesPerTurn
        // True at first, also for a congested connection: the system may accept everything at once, and then no
        // `written` follows.
        var hasMore = true
        while left > 0, output.count < Self.bytesPerTurn, life.takesMessages, !isCongested {
            hasMore = takeMessage()
            guard hasMore else { break }
            messages &+= 1
            left -= 1
        }
        countInput()
        life.endWork()
        if writesLater, life.takesMessages, !hasMore, output.count > 0, output.count <= UnreadBudget.reserve {
            server.iterationAnswers.add(answered: self)
        } else {
            flush()
        }
        balance(hasMore: hasMore)
    }

    /// Called at the end of the loop's iteration.
    func writeTurn() {
        guard !socket.isClosed else { return }
        flush()
        if !life.isOpen { balance(hasMore: false) }
    }

    private func borrowBuffer() {
        let borrowed = server.iterationAnswers.borrow()
        swap(&output, &borrowed.writer)
        buffer = borrowed
    }

    private func returnBuffer() {
        guard let borrowed = buffer else { return }
        buffer = nil
        swap(&output, &borrowed.writer)
        server.iterationAnswers.giveBack(borrowed)
    }

    /// How many bytes of answers a connection writes before others get a turn.
    private static let bytesPerTurn = 1 << 18

    /// Counts the bytes held for incomplete messages over all connections, and closes this connection if there
    /// are too many.
    private func countInput() {
        input.set(unfinished: life.takesInput ? decoder.waiting : 0)
        guard input.bytes > UnreadBudget.reserve,
            server.engine.load.input.isExceeded(
                by: caller.share, limit: server.engine.limits.maxInputBytes)
        else { return }
        fail(
            RPCError(
                .resourceExhausted,
                "The server holds too many bytes of unfinished messages. Try again soon. The connection is closed."
            ))
        input.set(unfinished: 0)
    }

    /// The input can no longer be decoded: reports the error and closes the connection.
    func fail(_ error: RPCError) {
        server.engine.metrics.update { $0.protocolErrors += 1 }
        ServerMessage.write(error: error, id: nil, into: &output)
        life.finish()
        decoder = FrameDecoder(limit: server.engine.limits.maxMessageBytes)
    }

    // MARK: Output

    /// Bytes that are waiting for the client.
    var queuedBytes: Int { socket.queuedBytes + output.count }

    /// Whether the client must read before more of its calls are processed.
    private var isCongested: Bool {
        let queued = queuedBytes
        return queued > server.engine.limits.maxQueuedBytesPerConnection
            || queued > UnreadBudget.reserve && server.engine.load.unread.isSpent(for: caller.unread)
    }

    func flush() {
        if !socket.isClosed, output.count > 0 { writeOutput() }
        let most = buffer == nil ? 1024 : 4 * Self.bytesPerTurn
        if output.count > most { output = ByteWriter(capacity: 0) } else { output.truncate(to: 0) }
        if !life.isWorking { returnBuffer() }
    }

    private func writeOutput() {
        let count = output.count
        let taken = output.withUnsafeBytes { socket.tryWrite($0) }
        countSent(taken)
        caller.unread.wasAccepted(taken)
        guard taken < count else { return }
        var rest = ByteWriter(capacity: count - taken)
        output.withUnsafeBytes { rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[taken...])) }
        write(OutgoingBytes(rest))
    }

    private func countSent(_ count: Int) {
        server.bytesSent += UInt64(count)
        handedBytes += UInt64(count)
    }

    /// Writes bytes without copying them.
    private func write(_ bytes: OutgoingBytes) {
        let count = bytes.writer.count
        countSent(count)
        bytes.writer.withUnsafeBytes {
            server.engine.load.unread.pass($0, keeping: bytes, for: caller.unread) {
                socket.write($0, keeping: $1)
            }
        }
    }

    /// Sends a complete frame. Large frames are not copied.
    func send(_ frame: OutgoingBytes) {
        if frame.writer.count < UnreadBudget.reserve {
            frame.writer.withUnsafeBytes { output.append(contentsOf: $0) }
        } else {
            flush()
            write(frame)
        }
    }

    private func written() {
        caller.transportIsReady()
        // What was left waits for its turn: hundreds of clients may read at the same time.
        if decoder.waiting > 0 { balance(hasMore: true) } else { turn() }
    }

    /// Continues reading, pauses, or schedules another turn, depending on the connection's state.
    private func balance(hasMore: Bool) {
        guard !socket.isClosed else { return }
        let isCongested = isCongested
        caller.hold(isCongested)
        let standing = ConnectionLife.Standing(
            isUnwritten: queuedBytes > 0, isCongested: isCongested, hasMore: hasMore,
            isInputFull: caller.isInputFull)
        switch life.next(standing) {
        case .none: break
        case .read: socket.resumeReading()
        case .pause: socket.pauseReading()
        case .pauseAndSchedule:
            socket.pauseReading()
            server.engine.connections.append { [self] in
                life.scheduledTurnCame()
                turn()
            }
        case .endInputs: endInputs()
        case .linger: linger()
        case .close: close()
        }
    }

    /// Everything that the client sent has been processed, and no more will come: cancels the streams that it has
    /// not ended, and closes the connection once all calls are answered.
    private func endInputs() {
        socket.pauseReading()
        caller.inputEnded()
        guard caller.openCalls == 0 else { return }
        giveNotice()
        end()
    }

    /// Gives the client time to read why its connection ends.
    private func linger() {
        guard !server.isShuttingDown else { return close() }
        caller.close()
        socket.finishWriting()
        socket.resumeReading()
        lingering = Timer(on: server.loop, delay: Self.lingerMs) { [unowned self] in close() }
    }

    private static let lingerMs: UInt64 = 1000

    // MARK: Stalled clients

    /// Whether the client has left something unread for some time. Closes the connection if something was unread
    /// or unfinished for too long.
    func isStalled(at now: UInt64) -> Bool {
        let unwritten = socket.unwrittenBytes
        progress.look(
            ClientProgress.Standing(
                unread: unwritten + output.count, taken: handedBytes - UInt64(clamping: unwritten),
                inSystem: unwritten > 0 ? socket.bytesInSystem : 0,
                unfinished: socket.isReading ? decoder.waiting : 0, messages: messages), at: now)
        let limits = server.engine.limits
        if progress.hasLeftUnread(for: limits.stallSeconds, at: now) {
            closeStalled()
            return false
        }
        if progress.hasLeftUnfinished(for: limits.messageSeconds, at: now) {
            fail(
                RPCError(
                    .deadlineExceeded,
                    "A message was not complete within \(limits.messageSeconds) seconds. The connection is closed."
                ))
            flush()
            balance(hasMore: false)
            return false
        }
        return progress.unreadFor(now) > 0
    }

    /// The bytes that closing this connection frees, times how long it has been stalled; 0 if that is too short
    /// to be certain.
    func stallWeight(at now: UInt64) -> Double { progress.stallWeight(of: queuedBytes, at: now) }

    func closeStalled() {
        server.engine.metrics.update { $0.connectionsStalled += 1 }
        close()
    }

    // MARK: The end

    /// Changes the peer's right.
    func take(_ right: AccessRight) {
        caller.take(right)
        flush()
        turn()
    }

    /// The server is about to shut down: ends the calls that would never end by themselves.
    func drain() {
        owesNotice = true
        caller.drain()
        flush()
    }

    /// Sends the notice of the server's shutdown. It follows the answers to everything that the client has sent,
    /// because a client that does not know the notice takes the next message for its answer.
    private func giveNotice() {
        guard owesNotice else { return }
        owesNotice = false
        ServerMessage.writeGoaway(
            "The server is shutting down. Send new calls on a new connection.", into: &output)
    }

    /// Stops accepting input from the client, which also ends its open streams.
    func finishReading() {
        guard life.phase == .open else { return }
        socket.finishReading()
        // Input that was paused is read to its end.
        socket.resumeReading()
    }

    /// Answers the received messages, and closes once everything is written.
    func end() {
        if life.end() { return close() }
        flush()
        balance(hasMore: false)
    }

    /// Ends all calls with an error, and closes the connection after writing as much of the answers as the system
    /// accepts at once.
    func close(_ error: RPCError) {
        caller.fail(error)
        flush()
        close()
    }

    /// Closes the connection and ends all its calls.
    func close() {
        guard life.close() else { return }
        lingering = nil
        caller.close()
        socket.close()
        // A large message that is being read or queued is not answered any more.
        input.set(large: 0)
        input.set(unfinished: 0)
        server.remove(self)
    }
}
