// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON

/// A client's connection: takes its messages in, carries out what the state machine says of them, and writes
/// the answers, all those of a turn at once. Belongs to the loop's thread.
final class ServerConnection {
    unowned let server: Server
    let socket: Connection
    let peer: Peer
    var machine: ConnectionStateMachine
    var calls: [Int64: ActiveCall] = [:]
    private var decoder: FrameDecoder
    private var output = ByteWriter(capacity: 1024)
    private var isScheduled = false
    /// Nothing more is read, and the connection closes once all is written.
    private var isEnding = false
    private var isTurn = false

    init(_ socket: Connection, server: Server) {
        self.server = server
        self.socket = socket
        peer =
            socket.peer.map { Peer(processID: $0.processID, userID: $0.userID, groupID: $0.groupID) }
            ?? .unknown
        machine = ConnectionStateMachine(maximumCalls: server.limits.maxCallsPerConnection)
        decoder = FrameDecoder(limit: server.limits.maxMessageBytes)
    }

    func start() {
        socket.start(
            onRead: { [weak self] bytes in self?.read(bytes) },
            onWritten: { [weak self] in self?.written() },
            onEnd: { [weak self] _ in self?.close() })
    }

    // MARK: Bytes in

    private func read(_ bytes: UnsafeRawBufferPointer) {
        server.bytesReceived += UInt64(bytes.count)
        decoder.append(bytes)
        turn()
    }

    /// Works on some messages, writes what was answered, and leaves the rest for the next turn.
    func turn() {
        guard !socket.isClosed, !isTurn else { return }
        isTurn = true
        var left = server.limits.messagesPerTurn
        while left > 0, !isEnding, !isCongested, takeMessage() { left -= 1 }
        isTurn = false
        flush()
        balance(hasMore: left == 0)
    }

    /// Takes one message; false where none is whole yet.
    private func takeMessage() -> Bool {
        do throws(RPCError) {
            let message = try decoder.next { text in
                Result { () throws(EnvelopeError) in try ClientMessage.read(text, parser: server.parser) }
            }
            switch message {
            case nil: return false
            case .success(let message): handle(message)
            case .failure(let failure): refuse(failure)
            }
            return true
        } catch {
            server.metrics.update { $0.protocolErrors += 1 }
            ServerMessage.write(error: error, id: nil, into: &output)
            isEnding = true
            return false
        }
    }

    /// A message that cannot be used: an error of no call, or, where its id is good, of that id.
    private func refuse(_ failure: EnvelopeError) {
        server.metrics.update { $0.protocolErrors += 1 }
        ServerMessage.write(error: failure.error, id: failure.id, into: &output)
    }

    private func handle(_ message: ClientMessage) {
        let action = machine.receive(
            message, kind: { server.kind(of: $0) }, hasRoom: server.hasRoomForCall)
        switch action {
        case .open(let request, _): open(request)
        case .deliver(let id, let item): deliver(item, to: id)
        case .endInput(let id): endInput(of: id)
        case .cancel(let id): abandon(id, CallContext.cancelledError)
        case .fail(let id, let error): abandon(id, error)
        case .refuse(let id, let error): ServerMessage.write(error: error, id: id, into: &output)
        case .ignore: break
        }
    }

    // MARK: Answers

    /// Answers at once, within this turn.
    func answer(_ request: CallRequest, _ body: (inout ByteWriter) throws(RPCError) -> Void) -> StatusCode {
        let status = frame(for: request).write("result", into: &output, body)
        machine.finish(request.id)
        return status
    }

    /// Writes an error as a call's answer and forgets the call.
    func answer(_ request: CallRequest, error: RPCError) {
        ServerMessage.write(error: error, id: request.id, into: &output)
        machine.finish(request.id)
    }

    func frame(for request: CallRequest) -> AnswerFrame {
        AnswerFrame(
            id: request.id, compressing: request.acceptsDeflate, maximumBytes: server.limits.maxAnswerBytes)
    }

    /// Writes a frame that was made elsewhere. Large ones are not copied.
    func send(_ frame: OutgoingBytes) {
        if frame.writer.count < 1 << 16 {
            frame.writer.withUnsafeBytes { output.append(contentsOf: $0) }
        } else {
            flush()
            frame.writer.withUnsafeBytes { bytes in write(bytes, keeping: frame) }
        }
    }

    /// Writes an item of a stream straight into the outgoing bytes.
    func writeItem(
        _ member: StaticString, for request: CallRequest, _ body: (inout ByteWriter) throws(RPCError) -> Void
    ) -> StatusCode {
        frame(for: request).write(member, into: &output, body)
    }

    // MARK: Bytes out

    /// Bytes that wait for the client.
    var queuedBytes: Int { socket.queuedBytes + output.count }

    /// Whether the client must read before more is done for it.
    var isCongested: Bool { queuedBytes > server.limits.maxQueuedBytesPerConnection }

    func flush() {
        guard output.count > 0, !socket.isClosed else { return }
        let taken = output.withUnsafeBytes { socket.tryWrite($0) }
        server.bytesSent += UInt64(taken)
        if taken == output.count {
            if taken > 1 << 18 { output = ByteWriter(capacity: 1024) } else { output.truncate(to: 0) }
            return
        }
        var rest = ByteWriter(capacity: 1024)
        swap(&rest, &output)
        let keeper = OutgoingBytes(rest)
        keeper.writer.withUnsafeBytes { bytes in
            write(UnsafeRawBufferPointer(rebasing: bytes[taken...]), keeping: keeper)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, keeping keeper: OutgoingBytes) {
        server.bytesSent += UInt64(bytes.count)
        server.queuedBytes += bytes.count
        socket.write(bytes, keeping: QueuedBytes(keeper, bytes.count, server))
    }

    private func written() {
        if isEnding, socket.queuedBytes == 0 { return close() }
        for call in calls.values {
            if case .serverStream(_, let output) = call.work { output.wantToSend() }
        }
        turn()
    }

    /// Reads on, pauses, or comes back next turn, by how things stand.
    private func balance(hasMore: Bool) {
        guard !socket.isClosed else { return }
        if isEnding {
            socket.pauseReading()
            if queuedBytes == 0 { close() }
            return
        }
        if isCongested || streamBytes > server.limits.maxStreamBytes {
            socket.pauseReading()
        } else if hasMore {
            socket.pauseReading()
            schedule()
        } else {
            socket.resumeReading()
        }
    }

    /// Bytes of streams' items that wait for the pool.
    private var streamBytes: Int {
        calls.values.reduce(0) { sum, call in
            if case .clientStream(let stream) = call.work { return sum + stream.queuedBytes }
            return sum
        }
    }

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

    /// Takes no new calls, and closes once those in flight are answered.
    func drain() {
        machine.drain()
        closeIfDrained()
    }

    func closeIfDrained() {
        guard machine.isDraining, machine.openCalls == 0 else { return }
        flush()
        isEnding = true
        balance(hasMore: false)
    }

    /// Ends the connection and all its calls.
    func close() {
        guard !socket.isClosed else { return }
        let abandoned = calls
        calls = [:]
        for call in abandoned.values { forget(call, status: .cancelled) }
        socket.close()
        server.remove(self)
    }
}

/// Bytes in libuv's hands, counted until it lets go of them.
private final class QueuedBytes {
    private let keeper: OutgoingBytes
    private let count: Int
    private unowned let server: Server

    init(_ keeper: OutgoingBytes, _ count: Int, _ server: Server) {
        self.keeper = keeper
        self.count = count
        self.server = server
    }

    deinit { server.queuedBytes -= count }
}
