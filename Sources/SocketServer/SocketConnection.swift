// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Transports

/// A client's connection. It turns frames into calls, and their answers into frames; the answers of a turn are
/// written together. Belongs to the loop's thread.
final class SocketConnection: ServedConnection {
    /// Holds this connection until it closes.
    let server: SocketServer
    let socket: Connection
    private var client: ClientOutput
    private(set) var caller: Caller! = nil
    var life = ConnectionLife()
    var decoder: FrameDecoder
    /// Bytes of an unfinished message, and the memory of a large one that is being read.
    private var unfinishedInput: InputClaim
    var largeInput: InputClaim
    /// The answers that are written by the end of the turn. While it collects answers it is a buffer lent by the
    /// server, and `buffer` is the object to return it in. So idle connections have no buffer.
    var output = ByteWriter(capacity: 0)
    private var buffer: OutgoingBytes?
    /// Runs while a client that is still sending has time to read why its connection ends.
    private var lingering: Timer?
    /// Whether the notice of the server's shutdown is still to be sent.
    private var owesNotice = false
    /// Complete messages received since the connection began.
    var messages = 0

    init(_ socket: Connection, peer: Peer, share: UserShare, server: SocketServer) {
        self.server = server
        self.socket = socket
        client = ClientOutput(socket, server.engine, UnreadAccount(share))
        decoder = FrameDecoder(limit: server.engine.limits.maxMessageBytes)
        unfinishedInput = InputClaim(in: server.engine.load.input, of: share)
        largeInput = unfinishedInput
        caller = Caller(
            server.engine, peer: peer, right: server.engine.access.right(of: peer),
            unread: client.unread, transport: self)
    }

    func start() {
        // Not weak, because that would permanently slow down every other reference. The socket makes no calls
        // after its `close`, and the server releases this object only after that.
        socket.start { [unowned self] event in
            switch event {
            case .received(let bytes): read(bytes.bytes)
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

    private func read(_ bytes: RawSpan) {
        server.engine.metrics.traffic.received.add(UInt64(bytes.byteCount), ordering: .relaxed)
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
        unfinishedInput.bytes = life.takesInput ? decoder.waiting : 0
        guard unfinishedInput.bytes + largeInput.bytes > UnreadBudget.reserve,
            server.engine.load.input.isExceeded(
                by: caller.share, limit: server.engine.limits.maxInputBytes)
        else { return }
        fail(
            RPCError(
                .resourceExhausted,
                "The server holds too many bytes of unfinished messages. Try again soon. The connection is closed."
            ))
        unfinishedInput.bytes = 0
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
        if !socket.isClosed, output.count > 0 { client.write(output) }
        let most = buffer == nil ? 1024 : 4 * Self.bytesPerTurn
        if output.count > most { output = ByteWriter(capacity: 0) } else { output.truncate(to: 0) }
        if !life.isWorking { returnBuffer() }
    }

    /// Sends a complete frame. Large frames are not copied.
    func send(_ frame: OutgoingBytes) {
        if frame.writer.count < UnreadBudget.reserve {
            output.append(contentsOf: frame.writer)
        } else {
            flush()
            client.write(frame)
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
        let step = life.next(
            isUnwritten: queuedBytes > 0, isCongested: isCongested, hasMore: hasMore,
            isInputFull: caller.isInputFull)
        switch step {
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

    /// Closes the connection if the client has left something unread or unfinished for too long.
    func check(at now: UInt64) {
        client.look(
            waiting: output.count, unfinished: socket.isReading ? decoder.waiting : 0, messages: messages,
            at: now)
        if client.isStalled(at: now) { return server.closeStalled(self) }
        guard client.hasLeftUnfinished(at: now) else { return }
        fail(
            RPCError(
                .deadlineExceeded,
                "A message was not complete within \(server.engine.limits.messageSeconds) seconds. The connection is closed."
            ))
        flush()
        balance(hasMore: false)
    }

    func stallWeight(at now: UInt64) -> Double { client.stallWeight(of: queuedBytes, at: now) }

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
        largeInput.bytes = 0
        unfinishedInput.bytes = 0
        server.remove(self)
    }
}
