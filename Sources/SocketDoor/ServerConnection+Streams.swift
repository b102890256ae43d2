// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON

/// Streams from the server: each writes its next item when the client has taken all before it.
extension ServerConnection {
    func beginStream(
        _ request: CallRequest, _ context: CallContext, _ started: UInt64, _ handler: any ServerStreamHandler,
        _ params: Params
    ) throws(RPCError) {
        let output = StreamOutput(self, request.id, context)
        let stream = try handler.begin(params, context, output)
        add(request, context, started, .serverStream(stream, output))
    }

    /// Lets a stream write its next item, where the client keeps up.
    func pump(_ id: Int64, _ context: CallContext) {
        guard let call = calls[id], call.context === context,
            case .serverStream(let stream, let output) = call.work,
            socket.queuedBytes == 0, !output.isBusy
        else { return }
        if server.budget.isSpent { return output.wantToSend(after: Self.patience) }
        let bytes = OutgoingBytes(ByteWriter(capacity: 1024))
        var step = StreamStep.nothing
        var failure: RPCError?
        let most = server.budget.allowance(upTo: server.limits.maxAnswerBytes - AnswerFrame.itemEnvelope)
        bytes.writer.limitFollowing(to: most)
        do throws(RPCError) {
            step = try stream.next(into: &bytes.writer)
            if bytes.writer.hasOverflowed || bytes.writer.count > most {
                throw AnswerFrame.tooLarge(most + AnswerFrame.itemEnvelope)
            }
        } catch { failure = error }
        bytes.writer.liftLimit()
        if let failure { return end(call, failure) }
        switch step {
        case .nothing: break
        case .item:
            if call.answered == nil { call.answered = MonotonicClock.now() }
            send(item: bytes, of: call, output)
        case .end:
            calls[id] = nil
            machine.finish(id)
            forget(call, status: .ok)
            write("end", bytes, of: call)
            settle()
        }
    }

    /// How long to wait, in nanoseconds, where too many bytes wait for other clients.
    private static let patience: UInt64 = 50_000_000

    private func end(_ call: ActiveCall, _ error: RPCError) {
        machine.finish(call.request.id)
        abandon(call.request.id, error)
        flush()
        settle()
    }

    private func send(item bytes: OutgoingBytes, of call: ActiveCall, _ output: StreamOutput) {
        guard call.request.acceptsDeflate else {
            write("item", bytes, of: call)
            return flush()
        }
        let frame = frame(for: call.request)
        let framed = OutgoingBytes(ByteWriter(capacity: 1024))
        output.isBusy = true
        runOnPool { _ in
            _ = frame.write("item", into: &framed.writer) { (writer) throws(RPCError) in
                bytes.writer.withUnsafeBytes { writer.append(contentsOf: $0) }
            }
        } completion: { [weak self] in
            output.isBusy = false
            guard let self, self.calls[call.request.id] === call else { return }
            self.send(framed)
            self.flush()
            output.wantToSend()
        }
    }

    private func write(_ member: StaticString, _ bytes: OutgoingBytes, of call: ActiveCall) {
        writeFrame(member, for: call.request) { (writer) throws(RPCError) in
            bytes.writer.withUnsafeBytes { writer.append(contentsOf: $0) }
        }
    }

    /// Runs part of a stream's work on the pool, in this connection's turn.
    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void
    ) {
        let (queue, lane) = (server.queries, queries)
        let loop = server.loop
        queue.run(in: lane) { [weak self] in
            guard let self else { return queue.finished(in: lane) }
            let most = self.server.budget.allowance(
                upTo: self.server.limits.maxAnswerBytes - AnswerFrame.itemEnvelope)
            loop.work {
                body(most)
            } completion: {
                queue.finished(in: lane)
                completion()
            }
        }
    }
}
