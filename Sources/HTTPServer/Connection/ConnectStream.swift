// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import JSON
import RPC
import Transports
import TypedContract

/// A call of the Connect protocol that streams: messages with prefixes in the request's body, in the response's, or in
/// both. Belongs to the loop's thread.
final class ConnectStream: TypedCallOwner, MessageInputOwner {
    private unowned let exchange: Exchange
    private let form: ConnectForm
    private var input: MessageInput?
    private var call: TypedCall?
    /// What answers are compressed with; nil: nothing.
    private let compression: InflateStream.Format?
    let callID: Int64
    /// Ends the call at its deadline if it has not begun. After that the call has its own.
    private var deadlineTimer: AnyObject?

    init(_ method: TypedMethod, _ form: ConnectForm, of exchange: Exchange) {
        (self.form, self.exchange) = (form, exchange)
        callID = exchange.channel.makeCallID()
        let name = exchange.head[.connectContentEncoding] ?? "identity"
        let encoding = MessageInput.Encoding(name.lowercased())
        let accepted = (exchange.head[.connectAcceptEncoding] ?? "").split(separator: ",").map(\.trimmingSpaces)
        compression = accepted.contains { $0 == name } ? encoding.format : nil
        let call = TypedCall(method, isJSON: form.isJSON, for: self)
        self.call = call
        input = MessageInput(encoding, to: call, for: self)
        startDeadline()
    }

    /// A timer may fire a little early; then it is started again.
    private func startDeadline() {
        guard let timeLeft else { return }
        deadlineTimer = caller.engine.loop.timer(after: UInt64(timeLeft) + 1, every: 0) { [weak self] in
            guard let self, let call, call.call == nil, !exchange.isAnswered else { return }
            if self.timeLeft != 0 { return startDeadline() }
            fail(CallContext.deadlineError)
            exchange.channel.goOn()
        }
    }

    /// Fields of the response's head.
    var fields: [(name: StaticString, value: String)] {
        var fields: [(name: StaticString, value: String)] = [("Connect-Accept-Encoding", MessageInput.Encoding.names)]
        if let compression {
            fields.append(("Connect-Content-Encoding", compression == .zlib ? "deflate" : "gzip"))
        }
        return fields
    }

    func received(_ piece: [UInt8]) {
        input?.append(piece.span.bytes)
        adopt()
    }

    func inputEnded() {
        input?.end()
        adopt()
    }

    /// Bytes of messages that wait to be processed.
    var waitingBytes: Int { (call?.call?.waitingInputBytes ?? 0) + (input?.waitingBytes ?? 0) }

    /// The call's answer is the exchange's.
    private func adopt() { if let call = call?.call, !call.isOver, !exchange.isAnswered { exchange.call = call } }

    /// Nothing more is read.
    func close() {
        input?.close()
        call?.cancelUnopened()
        (input, call, deadlineTimer) = (nil, nil, nil)
    }

    // MARK: What the messages and the call need

    var caller: Caller! { exchange.caller }
    func currentIdentity() throws(RPCError) -> Identity { try exchange.currentIdentity() }
    var parser: JSONParser { exchange.server.parser }
    func tookMessage() {}

    func goOn() {
        adopt()
        exchange.channel.goOn()
    }

    var timeLeft: Int64? {
        guard let timeout = try? exchange.timeout() else { return nil }
        let passed = Int64((MonotonicClock.now() - exchange.started) / 1_000_000)
        return max(0, timeout - passed)
    }

    func encoder(_ method: TypedMethod, structProperties: Bool) -> TypedAnswerEncoder {
        TypedAnswerEncoder(
            method, of: exchange.server.engine.methods, structProperties: structProperties, isJSON: form.isJSON,
            .connectStream, compression: compression)
    }

    func borrow() -> OutgoingBytes { OutgoingBytes(ByteWriter()) }
    func giveBack(_ bytes: OutgoingBytes) {}
    func finish(with answer: OutgoingBytes) { answer.writer.withBytes { exchange.finish($0, answer) } }
    func fail(_ error: RPCError) { exchange.fail(error) }
}
