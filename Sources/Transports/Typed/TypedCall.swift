// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import RPC
import TypedContract

/// A call of one of the contract's methods whose messages are protobuf, or protobuf's JSON. Belongs to the loop's
/// thread.
package final class TypedCall: MessageSink {
    private let method: TypedMethod
    private let isJSON: Bool
    private unowned let owner: any TypedCallOwner
    private var phase = Phase.waiting
    /// Counts the params until the call is open.
    private var held: InputClaim

    private enum Phase {
        /// Nothing has come.
        case waiting
        /// The params of a call whose client does not stream have come; nothing follows on them.
        case complete(CallRequest, structProperties: Bool)
        /// The call is open: its answer, or its stream's items, follow.
        case open(Call?)
    }

    /// - Parameter isJSON: whether messages are protobuf's JSON.
    package init(_ method: TypedMethod, isJSON: Bool = false, for owner: any TypedCallOwner) {
        (self.method, self.isJSON, self.owner) = (method, isJSON, owner)
        held = InputClaim(in: owner.caller.engine.load.input, of: owner.caller.share)
    }

    package var isUnfinished: Bool { if case .complete = phase { true } else { false } }

    /// The call once it is open; nil also if it was answered at once.
    package var call: Call? { if case .open(let call) = phase { call } else { nil } }

    package var reader: Reader {
        { [method, isJSON] (message) throws(RPCError) in
            isJSON ? try Self.read(json: message, of: method) : try method.read(message)
        }
    }

    /// A function of its own, because the compiler (6.3) crashes if one function lends two spans.
    private static func read(json: Span<UInt8>, of method: TypedMethod) throws(RPCError) -> ClientPart {
        let message = try method.protobuf(fromJSON: json)
        return try method.read(message.span)
    }

    package func received(_ message: Span<UInt8>, _ parser: JSONParser) throws(RPCError) {
        if isJSON {
            try received(Self.read(json: message, of: method), size: message.count)
        } else {
            try received(method.read(message, parser: parser), size: message.count)
        }
    }

    package func received(_ part: ClientPart, size: Int) throws(RPCError) {
        switch (part, phase) {
        case (.open(let params, let text, let structProperties), .waiting):
            var request = CallRequest(id: owner.callID, method: method.fullName, params: params, paramsBytes: size)
            request.paramsText = text
            request.memoryBytes = size * LargeMessage.memoryPerByte
            if method.clientStreams {
                try open(request, structProperties)
            } else {
                phase = .complete(request, structProperties: structProperties)
                held.bytes = request.memoryBytes
                let engine = owner.caller.engine
                guard
                    held.bytes <= UnreadBudget.reserve
                        || !engine.load.input.isExceeded(by: owner.caller.share, limit: engine.limits.maxInputBytes)
                else { throw Self.tooMuchHeld }
            }
        case (.open, _):
            throw RPCError(
                .invalidArgument,
                method.clientStreams
                    ? "The stream is open already: later messages have no \"open\"."
                    : "The call takes one message; a second one came.")
        case (_, .waiting), (_, .complete):
            throw RPCError(.invalidArgument, "The first message of the stream must have \"open\".")
        case (.item(let item), .open), (.geoJSON(let item), .open):
            owner.caller.receive(item: item, for: owner.callID)
        }
    }

    package func inputEnded() throws(RPCError) {
        switch phase {
        case .waiting: throw RPCError(.internal, "The call has no message: its params were expected.")
        case .complete(let request, let structProperties): try open(request, structProperties)
        case .open: owner.caller.receiveEnd(for: owner.callID)
        }
    }

    private static let tooMuchHeld = RPCError(
        .resourceExhausted, "The server holds too many bytes of unfinished calls. Try again soon.")

    private func open(_ request: CallRequest, _ structProperties: Bool) throws(RPCError) {
        held.bytes = 0
        var request = request
        request.timeoutMilliseconds = owner.timeLeft
        let encoder = owner.encoder(method, structProperties: structProperties)
        let answer = owner.borrow()
        phase = .open(nil)
        let prepared = try owner.caller.prepare(request, by: owner.currentIdentity(), as: encoder, input: .texts)
        guard let call = try owner.caller.start(prepared, into: &answer.writer) else {
            return owner.finish(with: answer)
        }
        owner.giveBack(answer)
        phase = .open(call)
    }

    /// Nothing more will come. A call that is open goes on.
    package func cancelUnopened() { held.bytes = 0 }

    /// Nobody waits for the answer any more.
    package func cancel() {
        held.bytes = 0
        guard let call, !call.isOver else { return }
        phase = .open(nil)
        call.cancel()
    }
}

/// What carries a call's messages. Belongs to the loop's thread.
package protocol TypedCallOwner: AnyObject {
    var caller: Caller! { get }
    /// Unique among the caller's open calls.
    var callID: Int64 { get }
    /// How long the client still waits, in milliseconds; nil: no limit.
    var timeLeft: Int64? { get }

    /// Who makes the call, now that it is opened.
    func currentIdentity() throws(RPCError) -> Identity
    /// What writes the answers.
    func encoder(_ method: TypedMethod, structProperties: Bool) -> TypedAnswerEncoder
    /// An empty buffer for an answer.
    func borrow() -> OutgoingBytes
    func giveBack(_ bytes: OutgoingBytes)
    /// The call was answered at once.
    func finish(with answer: OutgoingBytes)
}
