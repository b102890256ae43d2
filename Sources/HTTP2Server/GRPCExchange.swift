// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import JSON
import RPC
import Transports
import TypedContract

/// A gRPC call on a stream: its messages in both directions, and its status. What the messages mean is its service's
/// business. Belongs to the loop's thread.
final class GRPCExchange: StreamHandler {
    let stream: HTTP2Stream
    unowned let connection: HTTP2Connection
    private let request: GRPCRequest
    private var service: (any GRPCService)?
    private var input: MessageInput?
    private(set) var isOver = false
    /// When the client stops waiting, by the loop's clock, in milliseconds.
    private let deadline: UInt64?
    /// Received bytes that have not been given back to the stream's window.
    private var owed = 0

    /// Who calls: the connection's client, or the bearer of the request's token.
    let identity: Identity

    init(_ request: GRPCRequest, by identity: Identity, on stream: HTTP2Stream, of connection: HTTP2Connection) {
        (self.request, self.identity, self.stream, self.connection) = (request, identity, stream, connection)
        deadline = request.timeout.map { connection.loop.now &+ UInt64(clamping: $0) }
    }

    func begin(_ service: any GRPCService) {
        self.service = service
        input = MessageInput(request.encoding, to: service, for: self)
    }

    // MARK: Input

    func received(_ data: Span<UInt8>) {
        guard !isOver else { return connection.session.giveBack(data.count, on: stream.id) }
        owed += data.count
        input?.append(data.bytes)
        giveBackWindow()
    }

    func inputEnded() { input?.end() }

    /// Lets the client send more, unless what it has sent waits for the pool or for the client to read. The rest of an
    /// incomplete message must be let in, or it would never be complete.
    func giveBackWindow() {
        guard owed > 0, isOver || mayTakeMore else { return }
        connection.session.giveBack(owed, on: stream.id)
        owed = 0
    }

    private var mayTakeMore: Bool {
        let waiting = (service?.waitingBytes ?? 0) + (input?.waitingBytes ?? 0)
        return waiting <= (connection.caller.isInputFull ? 0 : Self.mostWaiting)
    }

    /// The most bytes of a stream's complete messages that wait while its client may send more.
    private static let mostWaiting = 256 << 10

    func tookInput(_ call: Call) { giveBackWindow() }

    // MARK: Output

    /// Sends messages, each with its prefix.
    func send(_ messages: OutgoingBytes) {
        guard !isOver else { return }
        guard messages.writer.withBytes({ !TypedAnswerEncoder.hasFailed($0) }) else {
            return fail(TypedAnswerEncoder.failureError)
        }
        respond()
        stream.send(messages)
    }

    private func respond() { if !stream.hasBegun { stream.respond(GRPCHeads.ok(request.answers)) } }

    /// Sends the last message, which may be none, and ends the call successfully.
    func finish(with answer: OutgoingBytes) {
        if answer.writer.count > 0 { send(answer) }
        finish()
    }

    /// Ends the call successfully.
    func finish() {
        guard !isOver else { return }
        respond()
        stream.finish(GRPCHeads.success)
        end()
    }

    func fail(_ error: RPCError) {
        guard !isOver else { return }
        if stream.hasBegun {
            stream.finish(GRPCHeads.trailers(error))
        } else {
            stream.respond(only: GRPCHeads.failure(error))
        }
        end()
    }

    private func end() {
        isOver = true
        input?.close()
        let service = service
        self.service = nil
        service?.closed()
        giveBackWindow()
    }

    // MARK: The stream's events

    func answered(_ answer: OutgoingBytes, by call: Call) { finish(with: answer) }
    func sent(_ item: OutgoingBytes, by call: Call, revision: UInt64?) { send(item) }
    func failed(_ error: RPCError, by call: Call) { fail(error) }
    func wasWritten() {
        service?.wasWritten()
        input?.resume()
        giveBackWindow()
    }

    func drain() { service?.drain() }

    func check(now: UInt64) {
        guard !isOver else { return }
        if let deadline, now >= deadline { return fail(CallContext.deadlineError) }
        input?.check()
        service?.check()
    }

    func closed() { if !isOver { end() } }
}

extension GRPCExchange: MessageInputOwner {
    var caller: Caller! { connection.caller }
    var parser: JSONParser { connection.server.parser }

    func tookMessage() { connection.messages &+= 1 }

    func goOn() {
        giveBackWindow()
        connection.goOn()
    }
}

extension GRPCExchange: TypedCallOwner {
    var callID: Int64 { Int64(stream.id) }

    var timeLeft: Int64? {
        deadline.map { deadline in
            let now = connection.loop.now
            return deadline > now ? Int64(clamping: deadline - now) : 0
        }
    }

    func currentIdentity() throws(RPCError) -> Identity {
        // Copying the rules costs more than the look.
        if connection.server.rules.tokens == nil { return connection.caller.identity }
        return try connection.server.rules.renewed(identity, on: connection.caller.identity)
    }

    func encoder(_ method: TypedMethod, structProperties: Bool) -> TypedAnswerEncoder {
        TypedAnswerEncoder(
            method, of: connection.engine.methods, structProperties: structProperties, .prefix,
            compression: request.answers)
    }

    func borrow() -> OutgoingBytes { connection.server.borrow() }
    func giveBack(_ bytes: OutgoingBytes) { connection.server.giveBack(bytes) }
}

/// What the messages of a gRPC call mean, and what else concerns the call. Belongs to the loop's thread.
protocol GRPCService: MessageSink {
    /// Bytes that wait to be processed, or for the client to read.
    var waitingBytes: Int { get }

    /// Everything sent has been written.
    func wasWritten()
    /// Some time has passed.
    func check()
    /// The server is about to shut down.
    func drain()
    /// The call is over; nothing more is to be sent.
    func closed()
}

extension GRPCService {
    func check() {}
    /// Calls are ended by their caller.
    func drain() {}
}

extension TypedCall: GRPCService {
    var waitingBytes: Int { call?.waitingInputBytes ?? 0 }
    func wasWritten() { call?.wantToSend() }
    func closed() { cancel() }
}
