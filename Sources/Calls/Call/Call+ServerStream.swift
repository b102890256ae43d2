// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Streams from the server. Each writes its next item after the client has taken all earlier ones.
extension Call {
    /// Requests that the stream writes its next item soon.
    func wantToSend() {
        if case .serverStream(_, let output) = work { output.wantToSend() }
    }

    /// Makes the stream write its next item, if the client keeps up.
    func sendNext() {
        guard let caller, case .serverStream(let stream, let output) = work, caller.transport.canTakeItem,
            !output.isBusy
        else { return }
        // An item that waits already is counted, so sending it takes no more memory.
        if !output.release(), caller.engine.load.unread.isSpent(for: caller.unread) {
            return output.wantToSend(after: Self.patience)
        }
        let bytes = OutgoingBytes(ByteWriter(capacity: 1024))
        let encoder = opening.encoder
        if !encoder.compresses { encoder.begin(.item, into: &bytes.writer) }
        let start = bytes.writer.count
        do throws(RPCError) {
            switch try next(of: stream, into: &bytes.writer) {
            case .nothing: break
            case .item(let facts):
                sentItem()
                send(bytes, facts, output)
            case .end:
                let wrapped = OutgoingBytes(ByteWriter(capacity: 256))
                Self.wrap(bytes, from: start, .end, AnswerFacts(), encoder, into: wrapped)
                finish(FinishedAnswer(bytes: wrapped, part: .end, facts: AnswerFacts()))
            }
        } catch { fail(error) }
    }

    /// How long to wait, in nanoseconds, while the user's clients have too much unread data.
    private static let patience: UInt64 = 50_000_000

    /// The maximum size of an item without its envelope, in bytes.
    private var mostBytes: Int {
        (caller?.engine.limits.maxAnswerBytes ?? Int.max) - AnswerBuilder.envelope
    }

    private func next(
        of stream: any ServerStream, into bytes: inout ByteWriter
    ) throws(RPCError) -> StreamStep {
        let most = mostBytes
        bytes.limitFollowing(to: most)
        let step = try stream.next(into: &bytes)
        if bytes.hasOverflowed || bytes.count > most {
            throw AnswerBuilder.tooLarge(most + AnswerBuilder.envelope)
        }
        bytes.liftLimit()
        return step
    }

    private func send(_ bytes: OutgoingBytes, _ facts: AnswerFacts, _ output: StreamOutput) {
        let encoder = opening.encoder
        guard encoder.compresses else {
            encoder.end(.item, facts, from: 0, in: &bytes.writer)
            caller?.transport.call(self, sent: FinishedAnswer(bytes: bytes, part: .item, facts: facts))
            return
        }
        let wrapped = OutgoingBytes(ByteWriter(capacity: 1024))
        output.isBusy = true
        enqueue { _ in
            let body: @Sendable () -> Void = {
                Self.wrap(bytes, from: 0, .item, facts, encoder, into: wrapped)
            }
            return (
                body,
                { call in
                    output.isBusy = false
                    let item = FinishedAnswer(bytes: wrapped, part: .item, facts: facts)
                    call.caller?.transport.call(call, sent: item)
                    output.wantToSend()
                }
            )
        }
    }

    private static func wrap(
        _ bytes: OutgoingBytes, from start: Int, _ part: AnswerPart, _ facts: AnswerFacts,
        _ encoder: any AnswerEncoder, into wrapped: OutgoingBytes
    ) {
        encoder.begin(part, into: &wrapped.writer)
        bytes.writer.withUnsafeBytes { bytes in
            wrapped.writer.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        encoder.end(part, facts, from: 0, in: &wrapped.writer)
    }

    /// Runs part of a stream's work on the pool, queued among the caller's other jobs.
    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void
    ) {
        enqueue { call in
            let most = call.mostBytes
            return ({ body(most) }, { _ in completion() })
        }
    }
}
