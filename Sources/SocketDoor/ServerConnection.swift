// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON

/// A client's connection: takes its messages in, carries out what the state machine says of them, and writes
/// the answers, all those of a turn at once. Belongs to the loop's thread.
final class ServerConnection {
    unowned let server: Server
    let socket: Connection
    let peer: Peer
    /// What its process may do.
    var right: AccessRight
    /// What all connections of the peer's user take together.
    let use: UserUse
    var machine: ConnectionStateMachine
    var calls: [Int64: ActiveCall] = [:]
    /// Where this connection's calls wait for the pool: what reads sources, and what changes them.
    let queries = PoolQueue.Lane()
    let changes = PoolQueue.Lane()
    /// Bytes of streams' items that wait for the pool.
    var streamBytes = 0
    var decoder: FrameDecoder
    /// What the server counts of this connection's unfinished messages.
    private var heldInputBytes = 0
    /// What is written by the end of the turn. Until then it is a buffer of the server's, whose place
    /// `buffer` keeps, so that idle connections hold none.
    var output = ByteWriter(capacity: 64)
    private var buffer: OutgoingBytes?
    private var isScheduled = false
    /// Whether an answer was refused since too much waits for slow readers.
    var wasCut = false
    /// Nothing more is read, and the connection closes once all is written.
    var isEnding = false
    /// The stream of bytes is followed no longer: what still comes is thrown away.
    private var hasFailed = false
    /// Until then a client that is still sending has time to be told so.
    private var lingering: Timer?
    /// The client sends nothing more, but waits for its answers.
    private var isInputEnded = false
    private var isTurn = false
    /// Whether messages wait for the end of the loop's turn.
    private var isDeferred = false
    /// The bytes of a large message that the pool reads; what came after it waits for that.
    var bytesBeingRead = 0
    /// Kept from one large message to the next while calls are open: its memory is some ten times a message.
    var largeParser: LargeParser?

    init(_ socket: Connection, peer: Peer, use: UserUse, server: Server) {
        self.server = server
        self.socket = socket
        self.peer = peer
        self.use = use
        right = server.access.right(of: peer)
        machine = ConnectionStateMachine(maximumCalls: server.limits.maxCallsPerConnection)
        decoder = FrameDecoder(limit: server.limits.maxMessageBytes)
    }

    func start() {
        // Not weak, which would make every other reference slower for good: the socket calls nothing after its
        // `close`, and the server lets go of this object only then.
        socket.start(
            onRead: { [unowned self] bytes in read(bytes) },
            onWritten: { [unowned self] in written() },
            onEnd: { [unowned self] end in ended(end) })
    }

    /// A client that has closed gets nothing more; one that only ended its side gets its answers.
    private func ended(_ end: Connection.End) {
        workOff()
        guard end == .finished, !hasFailed, !socket.isAbandoned else { return close() }
        isInputEnded = true
        turn()
    }

    // MARK: Bytes in

    private func read(_ bytes: UnsafeRawBufferPointer) {
        server.bytesReceived += UInt64(bytes.count)
        if hasFailed { return }
        decoder.append(bytes)
        // More may follow at once, without end.
        if decoder.waiting >= Self.mostDeferred { return turn(writesLater: true) }
        guard !isDeferred else { return }
        isDeferred = true
        server.turnAnswers.add(received: self)
    }

    /// Works on what waited for the other sockets to be read.
    func workOff() {
        guard isDeferred else { return }
        isDeferred = false
        turn(writesLater: true)
    }

    /// From so many received bytes on, messages are not left to the end of the loop's turn.
    private static let mostDeferred = 1 << 14

    /// Works on some messages, writes what was answered, and leaves the rest for the next turn.
    ///
    /// - Parameter writesLater: whether the loop's turn has an end at which small answers can be written.
    func turn(writesLater: Bool = false) {
        guard !socket.isClosed, !isTurn else { return }
        let server = server
        isTurn = true
        if buffer == nil, output.count == 0 { borrowBuffer() }
        var left = server.limits.messagesPerTurn
        while left > 0, output.count < Self.bytesPerTurn, !isEnding, !isCongested, bytesBeingRead == 0 {
            guard takeMessage() else { break }
            left -= 1
        }
        let hasMore = left == 0 || output.count >= Self.bytesPerTurn
        countInput()
        isTurn = false
        if writesLater, !isEnding, !hasMore, output.count > 0, output.count <= QueueBudget.reserve {
            server.turnAnswers.add(answered: self)
        } else {
            flush()
        }
        balance(hasMore: hasMore)
    }

    /// The end of the loop's turn.
    func writeTurn() {
        guard !socket.isClosed else { return }
        flush()
        if isEnding { balance(hasMore: false) }
    }

    private func borrowBuffer() {
        let borrowed = server.turnAnswers.borrow()
        swap(&output, &borrowed.writer)
        buffer = borrowed
    }

    private func returnBuffer() {
        guard let borrowed = buffer else { return }
        buffer = nil
        swap(&output, &borrowed.writer)
        server.turnAnswers.giveBack(borrowed)
    }

    /// Bytes of answers that a connection writes before the others have their turn.
    private static let bytesPerTurn = 1 << 18

    /// Counts what is held of messages that are not whole yet, over all connections, and gives up where
    /// that is too much.
    private func countInput() {
        let waiting = isEnding || socket.isClosed ? 0 : decoder.waiting + bytesBeingRead
        guard waiting != heldInputBytes else { return }
        server.load.addInputBytes(waiting - heldInputBytes)
        heldInputBytes = waiting
        guard waiting > QueueBudget.reserve, server.load.heldInputBytes > server.limits.maxInputBytes else {
            return
        }
        fail(
            RPCError(
                .resourceExhausted,
                "Too many bytes of unfinished messages are held. Try again soon. The connection is closed."))
        countInput()
    }

    /// The stream of bytes can be followed no longer.
    func fail(_ error: RPCError) {
        server.metrics.update { $0.protocolErrors += 1 }
        ServerMessage.write(error: error, id: nil, into: &output)
        isEnding = true
        hasFailed = true
        decoder = FrameDecoder(limit: server.limits.maxMessageBytes)
    }

    // MARK: Bytes out

    /// Bytes that wait for the client.
    var queuedBytes: Int { socket.queuedBytes + output.count }

    /// Whether the client must read before more is done for it.
    var isCongested: Bool {
        let queued = queuedBytes
        return queued > server.limits.maxQueuedBytesPerConnection
            || queued > QueueBudget.reserve && server.budget.isSpent
    }

    func flush() {
        if !socket.isClosed, output.count > 0 { writeOutput() }
        let most = buffer == nil ? 1024 : 4 * Self.bytesPerTurn
        if output.count > most { output = ByteWriter(capacity: 64) } else { output.truncate(to: 0) }
        if !isTurn { returnBuffer() }
    }

    private func writeOutput() {
        let count = output.count
        let taken = output.withUnsafeBytes { socket.tryWrite($0) }
        server.bytesSent += UInt64(taken)
        guard taken < count else { return }
        var rest = ByteWriter(capacity: count - taken)
        output.withUnsafeBytes { rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[taken...])) }
        let keeper = OutgoingBytes(rest)
        keeper.writer.withUnsafeBytes { write($0, keeping: keeper) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, keeping keeper: OutgoingBytes) {
        server.bytesSent += UInt64(bytes.count)
        socket.write(bytes, keeping: QueuedBytes(keeper, bytes.count, server.budget))
    }

    private func written() {
        if isEnding, socket.queuedBytes == 0 { return closeWritten() }
        for call in calls.values {
            if case .serverStream(_, let output) = call.work { output.wantToSend() }
        }
        turn()
    }

    /// Reads on, pauses, or comes back next turn, by how things stand.
    private func balance(hasMore: Bool) {
        guard !socket.isClosed else { return }
        if isEnding {
            if !hasFailed { socket.pauseReading() }
            if queuedBytes == 0 { closeWritten() }
            return
        }
        let isCongested = isCongested
        server.queries.hold(queries, isCongested)
        if isInputEnded, !isCongested, !hasMore, bytesBeingRead == 0 { return endInputs() }
        if isCongested || bytesBeingRead > 0 || streamBytes > server.limits.maxStreamBytes {
            socket.pauseReading()
        } else if hasMore {
            socket.pauseReading()
            schedule()
        } else if !isInputEnded {
            socket.resumeReading()
        }
    }

    /// All that the client sent has been seen, and no more will come: streams that it has not ended are
    /// cancelled, and the connection closes once all calls are answered.
    private func endInputs() {
        for id in machine.unendedStreams {
            machine.finish(id)
            abandon(id, CallContext.cancelledError)
        }
        if machine.openCalls == 0 { end() }
    }

    /// All is written. Where the client may be in the midst of sending, what it sends is taken for a while: a
    /// write that breaks would keep it from reading why.
    private func closeWritten() {
        guard hasFailed, !server.isShuttingDown else { return close() }
        guard lingering == nil else { return }
        forgetCalls()
        socket.finishWriting()
        socket.resumeReading()
        lingering = Timer(on: server.loop, delay: Self.lingerMs) { [unowned self] in close() }
    }

    private static let lingerMs: UInt64 = 1000

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        let bound = LoopBound(self)
        server.loop.remote.post {
            bound.value.isScheduled = false
            bound.value.turn()
        }
    }

    // MARK: The end

    /// Takes no new calls, and ends those that would never end by themselves.
    func drain() {
        machine.drain()
        for (id, call) in calls {
            guard case .serverStream = call.work else { continue }
            machine.finish(id)
            abandon(id, Self.drainError)
        }
        flush()
    }

    private static let drainError = RPCError(.unavailable, "The server is shutting down. Try again soon.")

    /// Answers what has come, and closes once all is written.
    func end() {
        if lingering != nil { return close() }
        guard !isEnding else { return }
        flush()
        isEnding = true
        balance(hasMore: false)
    }

    /// Ends all calls with an error, and the connection with as much of the answers as it takes at once.
    func close(_ error: RPCError) {
        for id in Array(calls.keys) {
            machine.finish(id)
            abandon(id, error)
        }
        flush()
        close()
    }

    private func forgetCalls() {
        let abandoned = calls
        calls = [:]
        for call in abandoned.values { forget(call, status: .cancelled) }
    }

    /// Ends the connection and all its calls.
    func close() {
        guard !socket.isClosed else { return }
        lingering = nil
        forgetCalls()
        socket.close()
        server.load.addInputBytes(-heldInputBytes)
        heldInputBytes = 0
        server.remove(self)
    }
}
