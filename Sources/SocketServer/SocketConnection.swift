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
    var client: ClientOutput
    private(set) var caller: Caller! = nil
    var life = ConnectionLife()
    var decoder: FrameDecoder
    /// Bytes of an unfinished message, and the memory of a large one that is being read.
    private var unfinishedInput: InputClaim
    var largeInput: InputClaim
    /// Reads large messages while calls are open.
    var largeParser: LargeParser?
    /// The answers that are written by the end of the turn. While it collects answers it is a buffer lent by the
    /// server, and `buffer` is the object to return it in. So idle connections have no buffer.
    var output = ByteWriter(capacity: 0)
    private var buffer: OutgoingBytes?
    var lingering: Timer?
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

    var engine: CallEngine { server.engine }
    var loop: EventLoop { server.loop }

    /// A client that has closed its connection gets nothing more; one that only ended its side gets its answers.
    func ended(_ end: Connection.End) {
        workOff()
        guard end == .finished, life.phase == .open, !socket.isAbandoned else { return close() }
        life.inputFinished()
        process()
    }

    // MARK: Input

    func read(_ bytes: RawSpan) {
        guard life.isOpen else { return }
        if messages == 0, decoder.waiting == 0, server.handsOver(self, bytes) { return }
        decoder.append(bytes)
        // More bytes may follow at once, endlessly.
        switch life.received(isMuch: decoder.waiting >= Self.mostDeferred) {
        case .workNow: process(writesLater: true)
        case .deferred: server.iterationAnswers.add(received: self)
        case .keep, .discard: break
        }
    }

    /// Processes what has waited until the other sockets were read.
    func workOff() { if life.iterationEnded() { process(writesLater: true) } }

    /// From this many received bytes, messages are not left to the end of the loop's iteration.
    private static let mostDeferred = 1 << 14

    /// Processes a number of messages, writes their answers, and leaves the rest for the next turn.
    ///
    /// - Parameter writesLater: whether small answers can be written at the end of the loop's iteration.
    func process(writesLater: Bool = false) {
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
    func writeAnswers() {
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
            server.engine.load.input.isExceeded(by: caller.share, limit: server.engine.limits.maxInputBytes)
        else { return }
        fail(
            RPCError(
                .resourceExhausted,
                "The server holds too many bytes of unfinished messages. Try again soon. The connection is closed."))
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

    var queuedBytes: Int { socket.queuedBytes + output.count }

    var isCongested: Bool {
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

    func written() {
        caller.transportIsReady()
        // What was left waits for its turn: hundreds of clients may read at the same time.
        if decoder.waiting > 0 { balance(hasMore: true) } else { process() }
    }

    private func balance(hasMore: Bool) {
        if !socket.isClosed { proceed(hasMore: hasMore) }
    }

    func workOffBacklog() { process() }

    /// Cancels the streams that the client has not ended, and closes the connection once all calls are answered.
    func endInputs() {
        socket.pauseReading()
        caller.inputEnded()
        guard caller.openCalls == 0 else { return }
        giveNotice()
        end()
    }

    var lingerMilliseconds: UInt64 { server.isShuttingDown ? 0 : 1000 }

    // MARK: Stalled clients

    /// Closes the connection if the client has left something unread or unfinished for too long.
    func check(at now: UInt64) {
        client.look(
            waiting: output.count, unfinished: socket.isReading ? decoder.waiting : 0, messages: messages, at: now)
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

    // MARK: The end

    /// Changes the peer's right.
    func take(_ right: AccessRight) {
        caller.take(right)
        flush()
        process()
    }

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
        ServerMessage.writeGoaway("The server is shutting down. Send new calls on a new connection.", into: &output)
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

    func closed() {
        // A large message that is being read or queued is not answered any more.
        largeInput.bytes = 0
        unfinishedInput.bytes = 0
        server.remove(self)
    }
}
