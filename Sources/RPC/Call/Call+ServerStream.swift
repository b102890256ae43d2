// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Streams from the server. Each writes its next item after the client has taken all earlier ones.
extension Call {
    /// Requests that the stream writes its next item soon. The transport calls it when the client has taken the call's
    /// earlier items.
    package func wantToSend() {
        if case .serverStream(_, let output) = work { output.wantToSend() }
    }

    /// Makes the stream write its next item, if the client keeps up.
    func sendNext() {
        guard let caller, case .serverStream(let stream, let output) = work, caller.transport.canTakeItem(of: self),
            !output.isBusy
        else { return }
        // An item that waits already is counted, so sending it takes no more memory.
        let view = output.release() ? nil : caller.mostOfView
        if let view, view < UnreadBudget.view { return output.wantToSend(after: Self.patience) }
        let bytes = OutgoingBytes(ByteWriter(capacity: 1024))
        let encoder = pending.encoder
        if !encoder.compresses { encoder.begin(.item, into: &bytes.writer) }
        let start = bytes.writer.count
        do throws(RPCError) {
            let most = min(mostItemBytes, view ?? .max)
            switch try next(of: stream, most, into: &bytes.writer) {
            case .nothing: break
            case .tooLarge(let limit):
                guard limit < mostItemBytes else { throw .tooLarge(limit + mostEnvelope) }
                exceeded(view: limit)
                output.wantToSend(after: Self.patience)
            case .item(let revision):
                sentItem()
                send(bytes, revision, output)
            case .end:
                let wrapped = OutgoingBytes(ByteWriter(capacity: 256))
                Self.wrap(bytes, from: start, .end, encoder, into: wrapped)
                finish(wrapped)
            }
        } catch { fail(error) }
    }

    /// How long to wait, in nanoseconds, while the user's clients have too much unread data.
    private static let patience: UInt64 = 50_000_000

    /// The maximum size of an item without its envelope, in bytes.
    private var mostItemBytes: Int { mostBytes - mostEnvelope }

    private func next(
        of stream: any ServerStream, _ most: Int, into bytes: inout ByteWriter
    ) throws(RPCError) -> StreamStep {
        let start = bytes.count
        bytes.limitFollowing(to: most)
        let step = try stream.next(into: &bytes)
        if case .tooLarge = step { return step }
        if bytes.hasOverflowed || bytes.count - start > most {
            throw .tooLarge(most + mostEnvelope)
        }
        bytes.liftLimit()
        return step
    }

    private func send(_ bytes: OutgoingBytes, _ revision: UInt64?, _ output: StreamOutput) {
        let encoder = pending.encoder
        guard encoder.compresses else {
            encoder.end(.item, from: 0, in: &bytes.writer)
            caller?.transport.call(self, sent: bytes, of: revision)
            return
        }
        let wrapped = OutgoingBytes(ByteWriter(capacity: 1024))
        output.isBusy = true
        enqueue { _ in
            let body: @Sendable () -> Void = { Self.wrap(bytes, from: 0, .item, encoder, into: wrapped) }
            return (
                body,
                { call in
                    output.isBusy = false
                    call.caller?.transport.call(call, sent: wrapped, of: revision)
                    output.wantToSend()
                }
            )
        }
    }

    private static func wrap(
        _ bytes: OutgoingBytes, from start: Int, _ part: AnswerPart, _ encoder: any AnswerEncoder,
        into wrapped: OutgoingBytes
    ) {
        encoder.begin(part, into: &wrapped.writer)
        wrapped.writer.append(contentsOf: bytes.writer, from: start)
        encoder.end(part, from: 0, in: &wrapped.writer)
    }

    /// Runs part of a stream's work on the pool, queued among the caller's other jobs.
    func runOnPool(
        on subject: PoolSubject?, repeatable: Bool, _ body: @escaping @Sendable (_ mostBytes: Int) -> Void,
        completion: @escaping () -> Void
    ) {
        enqueue(on: subject) { call in
            let most = min(call.mostItemBytes, repeatable ? call.caller?.mostOfView ?? .max : .max)
            return ({ body(most) }, { _ in completion() })
        }
    }
}

/// A server stream's link to its call: through it a stream asks to send and to run work. Other threads may request the
/// next item; all else is done on the loop's thread.
package final class StreamOutput: Sendable {
    private let post: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let side: OnLoop<Side>

    init(_ engine: CallEngine) {
        post = engine.loop.post
        side = OnLoop(Side())
    }

    /// State used only on the loop's thread.
    private final class Side {
        weak var call: Call?
        var timer: AnyObject?
        /// Counts the item that waits for the client.
        var held: UnreadBudget.Claim?
        var isWaiting = false
        var isBusy = false

        func wantToSend() {
            guard !isWaiting, let backlog = call?.caller?.engine.streams else { return }
            isWaiting = true
            backlog.append { [self] in
                isWaiting = false
                call?.sendNext()
            }
        }
    }

    /// The call has begun.
    func open(_ call: Call) { side.value.call = call }

    /// Requests a call of `next` as soon as the transport can accept an item. Repeated requests before that call
    /// have no effect, so a slow client is sent fewer items and its queue does not grow. Safe from any thread.
    func wantToSend() { post { [side] in side.value.wantToSend() } }

    /// Requests a call of `next` after a delay in nanoseconds; a repeated request replaces the delay.
    func wantToSend(after delay: UInt64) {
        let side = side.value
        side.timer = side.call?.caller?.engine.loop.timer(after: delay / 1_000_000 + 1, every: 0) {
            [weak side] in side?.wantToSend()
        }
    }

    /// Counts the bytes of an item that waits for its client, until `next` is called or the call ends.
    func hold(bytes: Int) {
        guard let caller = side.value.call?.caller else { return }
        side.value.held = UnreadBudget.Claim(bytes, of: caller.unread, in: caller.engine.load.unread)
    }

    /// Counts no waiting item any more; returns whether one was counted.
    func release() -> Bool {
        defer { side.value.held = nil }
        return side.value.held != nil
    }

    /// Releases a value on the pool: to free what nothing else refers to may take milliseconds.
    func free(_ value: some Sendable) {
        guard let loop = side.value.call?.caller?.engine.loop else { return }
        let last = PoolOutcome(value)
        loop.work({ _ = last.take() }, completion: {})
    }

    /// Runs `body` on the pool, queued among the caller's jobs, then `completion` on the loop. Neither runs once
    /// the call is over.
    ///
    /// - Parameters:
    ///   - subject: what no other job may work on meanwhile; nil: nothing.
    ///   - repeatable: whether the maximum may be less than that of any item: while clients must read first.
    ///   - body: receives the maximum size of an item in bytes.
    func runOnPool(
        on subject: PoolSubject? = nil, repeatable: Bool, _ body: @escaping @Sendable (_ mostBytes: Int) -> Void,
        completion: @escaping () -> Void
    ) {
        side.value.call?.runOnPool(on: subject, repeatable: repeatable, body, completion: completion)
    }

    /// Counts bytes of the client's items that the stream holds, or that it holds no more if negative.
    func hold(input bytes: Int) {
        guard let call = side.value.call, let caller = call.caller else { return }
        caller.inputBytes += bytes
        if bytes < 0 { caller.transport.callTookInput(call) }
    }

    /// Whether the previous item is still being prepared.
    var isBusy: Bool {
        get { side.value.isBusy }
        set { side.value.isBusy = newValue }
    }

    /// The call is over.
    func close() {
        side.value.timer = nil
        side.value.held = nil
        side.value.call = nil
    }
}
