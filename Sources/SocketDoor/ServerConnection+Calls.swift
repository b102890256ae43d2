// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON

/// How calls run: at once, on the pool, or as streams.
extension ServerConnection {
    func open(_ request: CallRequest) {
        let server = server
        let started = MonotonicClock.now()
        let context = CallContext(
            peer: peer, right: right, deadline: server.deadline(of: request, from: started))
        let params = Params(request.params, text: request.paramsText)
        var failure: RPCError?
        do throws(RPCError) {
            try checkRight(request.method)
            switch server.served(request.method)?.handler {
            case .unary(let handler)?:
                let prepared = try handler.prepare(params)
                if prepared.placement == .loop, !request.acceptsDeflate {
                    let status = answer(request) { (bytes) throws(RPCError) in
                        try context.check()
                        try prepared.answer(context, &bytes)
                    }
                    server.record(request, by: peer, status, since: started)
                } else {
                    add(request, context, started, .unary)
                    runOnPool(request, prepared, context)
                }
            case .clientStream(let handler)?:
                let stream = try handler.begin(params, context)
                add(request, context, started, .clientStream(ClientStreamCall(stream)))
            case .serverStream(let handler)?:
                try beginStream(request, context, started, handler, params)
            case nil: throw RPCError(.unimplemented, "The method \"\(request.method)\" is not served here.")
            }
        } catch { failure = error }
        guard let failure else { return }
        answer(request, error: failure)
        server.record(request, by: peer, failure.code, since: started)
    }

    /// Takes over what the peer may do from now on; calls that it may not make any more end.
    func take(_ right: AccessRight) {
        let isLess = right < self.right
        self.right = right
        guard isLess else { return }
        for (id, call) in calls {
            let needed = AccessRight.needed(for: call.request.method)
            guard right < needed else { continue }
            machine.finish(id)
            abandon(id, needed.denial(of: call.request.method))
        }
        flush()
        settle()
    }

    /// Refuses a call that the peer has no right to.
    private func checkRight(_ method: String) throws(RPCError) {
        guard right < .manage else { return }
        let needed = AccessRight.needed(for: method)
        if right < needed { throw needed.denial(of: method) }
    }

    func add(
        _ request: CallRequest, _ context: CallContext, _ started: UInt64, _ work: ActiveCall.Work
    ) {
        let call = ActiveCall(request: request, context: context, started: started, work: work)
        calls[request.id] = call
        server.callBegan(use)
        if let deadline = context.deadline {
            let now = MonotonicClock.now()
            let left = deadline > now ? (deadline - now) / 1_000_000 + 1 : 0
            call.deadlineTimer = Timer(on: server.loop, delay: left) { [weak self, weak call] in
                guard let self, let call, self.calls[request.id] === call else { return }
                self.machine.finish(request.id)
                self.abandon(request.id, CallContext.deadlineError)
                self.flush()
                self.settle()
            }
        }
    }

    /// A call has ended outside of a turn: goes on with what waited for that.
    func settle() {
        turn()
        server.endIfDrained()
    }

    // MARK: Unary calls on the pool

    private func runOnPool(
        _ request: CallRequest, _ prepared: PreparedAnswer, _ context: CallContext
    ) {
        let (queue, lane) = lane(for: request)
        let loop = server.loop
        queue.run(in: lane) { [weak self] in
            guard let frame = self?.frame(for: request, waits: true) else { return queue.finished(in: lane) }
            let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
            let outcome = Outcome()
            loop.work {
                outcome.status = frame.write("result", into: &bytes.writer) { (writer) throws(RPCError) in
                    try context.check()
                    try prepared.answer(context, &writer)
                }
            } completion: { [weak self] in
                // What this answer holds counts before the next is begun.
                defer { queue.finished(in: lane) }
                if frame.isCut, outcome.status == .resourceExhausted { self?.wasCut = true }
                guard let self, let call = self.calls[request.id], call.context === context else { return }
                self.finish(call, bytes, outcome.status)
            }
        }
    }

    /// What changes sources may take long; it never keeps the queries' threads.
    private func lane(for request: CallRequest) -> (PoolQueue, PoolQueue.Lane) {
        server.isQuery(request.method) ? (server.queries, queries) : (server.changes, changes)
    }

    /// A status that one thread writes and another reads after libuv's hand-over, which orders the two; that
    /// is why it may be shared.
    private final class Outcome: @unchecked Sendable {
        var status = StatusCode.ok
    }

    private func finish(_ call: ActiveCall, _ bytes: OutgoingBytes, _ status: StatusCode) {
        guard let claim = server.budget.claim(bytes.writer.count) else {
            machine.finish(call.request.id)
            abandon(call.request.id, AnswerFrame.budgetError)
            return settle()
        }
        calls[call.request.id] = nil
        if calls.isEmpty { giveBackMemory() }
        machine.finish(call.request.id)
        forget(call, status: status)
        // Until the bytes are written, or counted as waiting.
        withExtendedLifetime(claim) { send(bytes) }
        settle()
    }

    /// Ends a call before its answer: an error goes out in its place, and its work is to stop.
    func abandon(_ id: Int64, _ error: RPCError) {
        guard let call = calls.removeValue(forKey: id) else { return }
        forget(call, status: error.code)
        answer(call.request, error: error)
    }

    /// Lets a call's work know that it is over, and counts it.
    func forget(_ call: ActiveCall, status: StatusCode) {
        call.deadlineTimer = nil
        call.context.cancel()
        server.callEnded(use)
        server.record(call.request, by: peer, status, since: call.started, until: call.answered)
        switch call.work {
        case .unary: break
        case .clientStream(let stream):
            streamBytes -= stream.queuedBytes
            stream.queuedBytes = 0
            stream.items = []
            if status != .ok { stream.cancel(on: server.loop) }
        case .serverStream(let stream, let output):
            output.close()
            stream.ended()
        }
    }

    // MARK: Streams from the client

    func deliver(_ item: [UInt8], to id: Int64) {
        guard let call = calls[id] else { return }
        switch call.work {
        case .unary: break
        case .clientStream(let stream):
            stream.items.append(item)
            stream.queuedBytes += item.count
            streamBytes += item.count
            advance(call, stream)
        case .serverStream(let stream, _):
            guard let error = failure({ () throws(RPCError) in try stream.receive(item) }) else { return }
            machine.finish(id)
            abandon(id, error)
        }
    }

    func endInput(of id: Int64) {
        guard let call = calls[id] else { return }
        switch call.work {
        case .unary: break
        case .clientStream(let stream):
            stream.inputEnded = true
            advance(call, stream)
        case .serverStream(let stream, _):
            guard let error = failure({ () throws(RPCError) in try stream.clientEnded() }) else { return }
            machine.finish(id)
            abandon(id, error)
        }
    }

    private func failure(_ body: () throws(RPCError) -> Void) -> RPCError? {
        do throws(RPCError) { try body() } catch { return error }
        return nil
    }

    /// Gives the pool the next job of a stream: the items that wait, or the end.
    private func advance(_ call: ActiveCall, _ stream: ClientStreamCall) {
        guard !stream.isBusy, !stream.items.isEmpty || stream.inputEnded else { return }
        stream.isBusy = true
        let (queue, lane) = (server.changes, changes)
        let loop = server.loop
        queue.run(in: lane) { [weak self] in
            guard let self, self.calls[call.request.id] === call else {
                stream.ranJob(on: loop)
                return queue.finished(in: lane)
            }
            let items = stream.items
            stream.items = []
            let job = StreamJob(
                stream.stream, call.context, items, self.frame(for: call.request, waits: true))
            loop.work {
                job.run()
            } completion: { [weak self] in
                defer { queue.finished(in: lane) }
                stream.ranJob(on: loop)
                self?.finished(job, call, stream)
            }
        }
    }

    private func finished(_ job: StreamJob, _ call: ActiveCall, _ stream: ClientStreamCall) {
        guard calls[call.request.id] === call else { return }
        stream.queuedBytes -= job.inputBytes
        streamBytes -= job.inputBytes
        if let error = job.error {
            machine.finish(call.request.id)
            abandon(call.request.id, error)
            settle()
        } else if job.isLast {
            finish(call, job.answer, job.status)
        } else {
            advance(call, stream)
            turn()
        }
    }
}
