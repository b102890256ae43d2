// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import JSON
import RPC
import TypedContract

/// Takes messages with prefixes from the bytes of one call, and passes them on in order. Large ones are read on the
/// pool, so that the loop's other connections do not wait for them. Belongs to the loop's thread.
package final class MessageInput {
    /// It calls `close` before it ends, after which this is not used. Not weak, because that would slow down every other
    /// reference.
    private unowned let owner: any MessageInputOwner
    private var sink: (any MessageSink)?
    private var decoder: FrameDecoder
    private let encoding: Encoding
    /// Whether a message is being read on the pool; later ones wait.
    private var isReading = false
    /// Whether a message is lent to the sink, so that the decoder must stay as it is.
    private var isLending = false
    private var hasEnded = false
    /// Counts what it holds.
    private var claim: InputClaim
    /// When the last message was complete, by the monotonic clock.
    private var since = MonotonicClock.now()

    /// What the client's compressed messages are compressed with.
    package enum Encoding: Equatable, Sendable {
        case identity
        case compressed(InflateStream.Format)
        /// None that the daemon knows. It matters once a message is compressed.
        case unknown(String)

        package init(_ name: String) {
            switch name {
            case "identity", "": self = .identity
            case "gzip": self = .compressed(.gzip)
            case "deflate": self = .compressed(.zlib)
            default: self = .unknown(name)
            }
        }

        package var format: InflateStream.Format? { if case .compressed(let format) = self { format } else { nil } }

        /// The names of all, as a client sees them.
        package static let names = "identity,deflate,gzip"
    }

    package init(_ encoding: Encoding, to sink: any MessageSink, for owner: any MessageInputOwner) {
        (self.owner, self.sink, self.encoding) = (owner, sink, encoding)
        let engine = owner.caller.engine
        decoder = FrameDecoder(
            FrameRules(
                limit: engine.limits.maxMessageBytes, compression: encoding.format,
                consequence: "The call has failed."))
        claim = InputClaim(in: engine.load.input, of: owner.caller.share)
    }

    package func append(_ bytes: RawSpan) {
        guard sink != nil else { return }
        decoder.append(bytes)
        takeMessages()
    }

    /// The client sends nothing more.
    package func end() {
        hasEnded = true
        takeMessages()
    }

    /// The call is over: nothing more is passed on.
    package func close() {
        sink = nil
        freeDecoder()
    }

    private func freeDecoder() {
        guard !isLending else { return }
        decoder = FrameDecoder()
        claim.bytes = 0
    }

    /// Bytes that must be processed before the client may send more: those after a message that is being read.
    package var waitingBytes: Int { isReading ? claim.bytes : 0 }

    /// The sink can take messages again.
    package func resume() { if sink != nil { takeMessages() } }

    /// Ends the call if its client has left a message incomplete for too long.
    package func check() {
        guard let sink, !isReading, decoder.waiting > 0 || sink.isUnfinished else { return }
        let limit = owner.caller.engine.limits.messageSeconds
        guard MonotonicClock.now() - since >= UInt64(limit) * 1_000_000_000 else { return }
        owner.fail(RPCError(.deadlineExceeded, "A message was not complete within \(limit) seconds."))
    }

    private func takeMessages() {
        guard sink != nil else { return }
        // It may end while it is called.
        let owner = owner
        do throws(RPCError) {
            while !isReading, sink?.isReady == true, try takeMessage(for: owner) {}
            if !isReading, sink?.isReady == true { try endIfComplete() }
            if sink != nil { try count(owner) }
        } catch { owner.fail(error) }
    }

    /// Passes the next message on; returns false if none is complete.
    private func takeMessage(for owner: any MessageInputOwner) throws(RPCError) -> Bool {
        guard let sink else { return false }
        let parser = owner.parser
        var failure: RPCError?
        do throws(RPCError) {
            // A compressed message may become a thousand times as large.
            if let frame = try decoder.takeLarge(from: LargeMessage.leastBytes, compressed: 1 << 10) {
                read(frame, for: sink, owner)
                return true
            }
            isLending = true
            defer {
                isLending = false
                if self.sink == nil { freeDecoder() }
            }
            let isComplete = try decoder.lendNext { message in
                do throws(RPCError) { try sink.received(message, parser) } catch { failure = error }
            }
            guard isComplete else { return false }
        } catch { throw Self.frameFailure(error, encoding) }
        tookMessage(owner)
        if let failure { throw failure }
        return true
    }

    private func tookMessage(_ owner: any MessageInputOwner) {
        since = MonotonicClock.now()
        owner.tookMessage()
    }

    private func endIfComplete() throws(RPCError) {
        guard hasEnded, let sink else { return }
        guard decoder.waiting == 0 else {
            throw RPCError(.internal, "The client ended its side in the middle of a message.")
        }
        try sink.inputEnded()
    }

    /// A bad frame is the fault of the client's library, not of its params.
    private static func frameFailure(_ error: RPCError, _ encoding: Encoding) -> RPCError {
        guard error.code == .invalidArgument else { return error }
        guard case .unknown(let name) = encoding else { return RPCError(.internal, error.message) }
        return RPCError(.unimplemented, "The encoding \(name) is not supported. Use one of \(Encoding.names).")
    }

    private func read(_ frame: HeldFrame, for sink: any MessageSink, _ owner: any MessageInputOwner) {
        isReading = true
        tookMessage(owner)
        let (reader, encoding) = (sink.reader, encoding)
        owner.caller.readOnPool(taking: frame.mostBytes * LargeMessage.memoryPerByte) {
            Self.read(frame, encoding, reader)
        } completion: { [weak self] result in
            guard let self, let sink = self.sink else { return }
            let owner = owner
            isReading = false
            do throws(RPCError) {
                let (part, size) = try result.get()
                try sink.received(part, size: size)
            } catch { owner.fail(error) }
            takeMessages()
            owner.goOn()
        }
    }

    private static func read(
        _ frame: HeldFrame, _ encoding: Encoding, _ reader: MessageSink.Reader
    ) -> Result<(part: ClientPart, size: Int), RPCError> {
        do throws(RPCError) {
            return try frame.withText { message in
                guard !LargeMessage.hasTooManyValues(message) else {
                    return .failure(RPCError(.resourceExhausted, "The message has too many values. Send it in parts."))
                }
                return Result { () throws(RPCError) in (try reader(message), message.count) }
            }
        } catch { return .failure(frameFailure(error, encoding)) }
    }

    /// Counts what is held, and throws if the user's clients hold too much.
    private func count(_ owner: any MessageInputOwner) throws(RPCError) {
        claim.bytes = decoder.waiting
        let engine = owner.caller.engine
        guard claim.bytes > UnreadBudget.reserve,
            engine.load.input.isExceeded(by: owner.caller.share, limit: engine.limits.maxInputBytes)
        else { return }
        throw RPCError(.resourceExhausted, "The server holds too many bytes of unfinished messages. Try again soon.")
    }
}

/// A call whose client sends messages with prefixes. Belongs to the loop's thread.
package protocol MessageInputOwner: AnyObject {
    var caller: Caller! { get }
    /// What reads JSON text in messages.
    var parser: JSONParser { get }

    /// A message has been received.
    func tookMessage()
    func fail(_ error: RPCError)
    /// Something happened outside a turn.
    func goOn()
}

/// What a call does with its client's messages. Belongs to the loop's thread.
package protocol MessageSink: AnyObject {
    /// Whether it takes a message now. If not, `resume` follows.
    var isReady: Bool { get }
    /// Whether it holds a message until the client has sent everything.
    var isUnfinished: Bool { get }

    typealias Reader = @Sendable (Span<UInt8>) throws(RPCError) -> ClientPart

    /// Reads a large message, on the pool.
    var reader: Reader { get }

    /// The client's next message.
    func received(_ message: Span<UInt8>, _ parser: JSONParser) throws(RPCError)
    /// The same for a message that was read on the pool.
    ///
    /// - Parameter size: the message's, in bytes.
    func received(_ part: ClientPart, size: Int) throws(RPCError)
    /// The client has sent its last message.
    func inputEnded() throws(RPCError)
}

extension MessageSink {
    package var isReady: Bool { true }
    package var isUnfinished: Bool { false }
}
