// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON

/// How calls run: at once, on the pool, or as streams.
extension ServerConnection {
    func open(_ request: CallRequest) {
        let started = MonotonicClock.now()
        let context = CallContext(peer: peer, deadline: server.deadline(of: request, from: started))
        let params = Params(request.params, text: request.paramsText)
        var failure: RPCError?
        do throws(RPCError) {
            switch server.handlers[request.method] {
            case .unary(let handler)?:
                if try handler.placement(params) == .loop {
                    let status = answer(request) { (bytes) throws(RPCError) in
                        try context.check()
                        try handler.answer(params, context, into: &bytes)
                    }
                    server.metrics.record(request.method, status, nanoseconds: MonotonicClock.now() - started)
                } else {
                    add(request, context, started, .unary)
                    server.pool.run(for: self) { [weak self] in
                        self?.runUnary(request, handler, params, context)
                    }
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
        server.metrics.record(request.method, failure.code, nanoseconds: MonotonicClock.now() - started)
    }

    private func add(
        _ request: CallRequest, _ context: CallContext, _ started: UInt64, _ work: ActiveCall.Work
    ) {
        let call = ActiveCall(request: request, context: context, started: started, work: work)
        calls[request.id] = call
        server.callsInFlight += 1
        if let deadline = context.deadline {
            let now = MonotonicClock.now()
            let left = deadline > now ? (deadline - now) / 1_000_000 + 1 : 0
            call.deadlineTimer = Timer(on: server.loop, delay: left) { [weak self, weak call] in
                guard let self, let call, self.calls[request.id] === call else { return }
                self.machine.finish(request.id)
                self.abandon(request.id, CallContext.deadlineError)
                self.flush()
                self.closeIfDrained()
            }
        }
    }

    // MARK: Unary calls on the pool

    private func runUnary(
        _ request: CallRequest, _ handler: any UnaryHandler, _ params: Params, _ context: CallContext
    ) {
        let frame = frame(for: request)
        let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
        let outcome = Outcome()
        server.loop.work {
            outcome.status = frame.write("result", into: &bytes.writer) { (writer) throws(RPCError) in
                try context.check()
                try handler.answer(params, context, into: &writer)
            }
        } completion: { [weak self] in
            guard let self else { return }
            self.server.pool.finished(for: self)
            guard let call = self.calls[request.id], call.context === context else { return }
            self.finish(call, bytes, outcome.status)
        }
    }

    /// A status that one thread writes and another reads after libuv's hand-over, which orders the two; that
    /// is why it may be shared.
    private final class Outcome: @unchecked Sendable {
        var status = StatusCode.ok
        var error: RPCError?
    }

    private func finish(_ call: ActiveCall, _ bytes: OutgoingBytes, _ status: StatusCode) {
        calls[call.request.id] = nil
        machine.finish(call.request.id)
        forget(call, status: status)
        send(bytes)
        turn()
        closeIfDrained()
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
        server.callsInFlight -= 1
        server.metrics.record(
            call.request.method, status, nanoseconds: MonotonicClock.now() - call.started)
        switch call.work {
        case .unary: break
        case .clientStream(let stream):
            stream.items = []
            let work = stream.stream
            if status != .ok { server.loop.work({ work.cancelled() }, completion: {}) }
        case .serverStream(let stream, _): stream.ended()
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
        guard !stream.isBusy else { return }
        let items = stream.items
        guard !items.isEmpty || stream.inputEnded else { return }
        stream.isBusy = true
        stream.items = []
        let isLast = items.isEmpty
        let (work, context, frame) = (stream.stream, call.context, frame(for: call.request))
        let bytes = OutgoingBytes(ByteWriter(capacity: 512))
        let outcome = Outcome()
        server.loop.work {
            do throws(RPCError) {
                for item in items {
                    try context.check()
                    try work.receive(item)
                }
            } catch { outcome.error = error }
            if isLast {
                outcome.status = frame.write("result", into: &bytes.writer) { (writer) throws(RPCError) in
                    try context.check()
                    try work.finish(into: &writer)
                }
            }
        } completion: { [weak self] in
            guard let self, self.calls[call.request.id] === call else { return }
            stream.isBusy = false
            stream.queuedBytes -= items.reduce(0) { $0 + $1.count }
            if let error = outcome.error {
                self.machine.finish(call.request.id)
                self.abandon(call.request.id, error)
                self.turn()
                self.closeIfDrained()
            } else if isLast {
                self.finish(call, bytes, outcome.status)
            } else {
                self.advance(call, stream)
                self.turn()
            }
        }
    }

    // MARK: Streams from the server

    private func beginStream(
        _ request: CallRequest, _ context: CallContext, _ started: UInt64, _ handler: any ServerStreamHandler,
        _ params: Params
    ) throws(RPCError) {
        let output = StreamOutput(server.loop.remote) { [weak self] in self?.pump(request.id, context) }
        let stream = try handler.begin(params, context, output)
        add(request, context, started, .serverStream(stream, output))
    }

    /// Lets a stream write its next item, where the client keeps up.
    private func pump(_ id: Int64, _ context: CallContext) {
        guard let call = calls[id], call.context === context, case .serverStream(let stream, _) = call.work,
            socket.queuedBytes == 0
        else { return }
        var step = StreamStep.nothing
        let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
        var failed: RPCError?
        do throws(RPCError) { step = try stream.next(into: &bytes.writer) } catch { failed = error }
        if let failed {
            machine.finish(id)
            abandon(id, failed)
        } else {
            switch step {
            case .nothing: return
            case .item:
                _ = writeItem("item", for: call.request) { (writer) throws(RPCError) in
                    bytes.writer.withUnsafeBytes { writer.append(contentsOf: $0) }
                }
            case .end:
                calls[id] = nil
                machine.finish(id)
                forget(call, status: .ok)
                _ = writeItem("end", for: call.request) { (writer) throws(RPCError) in
                    bytes.writer.withUnsafeBytes { writer.append(contentsOf: $0) }
                }
            }
        }
        flush()
        closeIfDrained()
    }
}
