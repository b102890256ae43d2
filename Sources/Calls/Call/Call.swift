// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A call that was not answered within the turn that brought it: the one owner of its id, deadline, cancellation and
/// work. Belongs to the loop's thread.
package final class Call {
    let opening: CallOpening
    let context: CallContext
    /// Nil once the call is over.
    private(set) var caller: Caller?
    private let served: Method
    private let started: UInt64
    /// When the first item of a stream went out: it may go on for days, and that is not slowness.
    private var answered: UInt64?
    var work: Work
    private var deadlineTimer: AnyObject?

    enum Work {
        /// On the pool, or waiting for it.
        case unary
        case clientStream(ClientStreamInput)
        case serverStream(any ServerStream, StreamOutput)
        /// For its source to have a position.
        case waiting(CallDelay)
    }

    init(_ prepared: PreparedCall, by caller: Caller, _ work: Work) {
        opening = prepared.opening
        context = prepared.context
        served = prepared.method
        started = prepared.started
        self.caller = caller
        self.work = work
    }

    package var id: Int64 { opening.request.id }
    package var method: MethodDeclaration { served.declaration }
    package var isOver: Bool { caller == nil }

    var isServerStream: Bool {
        switch work {
        case .serverStream, .waiting: true
        case .unary, .clientStream: false
        }
    }

    func startDeadline() {
        guard let caller, let deadline = context.deadline else { return }
        let now = MonotonicClock.now()
        let left = deadline > now ? (deadline - now) / 1_000_000 + 1 : 0
        deadlineTimer = caller.engine.loop.timer(after: left, every: 0) { [weak self] in
            self?.fail(CallContext.deadlineError)
        }
    }

    // MARK: What the client does

    /// Takes an item, or the next of a file's bytes.
    package func receive(_ item: [UInt8]) {
        switch work {
        case .unary: break
        case .clientStream(let input): receive(item, input)
        case .serverStream(let stream, _): attempt { () throws(RPCError) in try stream.receive(item) }
        case .waiting(let delay): delay.receive(item)
        }
    }

    /// The client has sent its last item.
    package func endInput() {
        switch work {
        case .unary: break
        case .clientStream(let input):
            input.hasEnded = true
            advance(input)
        case .serverStream(let stream, _): attempt { () throws(RPCError) in try stream.clientEnded() }
        case .waiting(let delay): delay.endInput()
        }
    }

    package func cancel() { fail(CallContext.cancelledError) }

    private func attempt(_ body: () throws(RPCError) -> Void) {
        do throws(RPCError) { try body() } catch { fail(error) }
    }

    // MARK: Work on the pool

    var lane: (queue: PoolQueue, lane: PoolQueue.Lane)? {
        guard let caller else { return nil }
        let load = caller.engine.load
        return method.threads == .change ? (load.changes, caller.changes) : (load.queries, caller.queries)
    }

    /// Queues a job for the pool among the caller's others. Nothing happens once the call is over.
    ///
    /// - Parameters:
    ///   - subject: no two jobs with the same subject run at once.
    ///   - begin: makes the job on the loop's thread, when it is the next.
    ///   - completion: after the job, on the loop's thread.
    func enqueue(
        on subject: PoolSubject? = nil,
        _ begin: @escaping (Call) -> (body: @Sendable () -> Void, completion: (Call) -> Void),
        abandoned: @escaping () -> Void = {}
    ) {
        guard let (queue, lane) = lane else { return }
        queue.run(in: lane, on: subject) { [self] in
            guard let loop = caller?.engine.loop else {
                abandoned()
                return queue.finished(in: lane, on: subject)
            }
            let (body, completion) = begin(self)
            loop.work(body) { [self] in
                // What this answer holds counts before the next is begun.
                defer { queue.finished(in: lane, on: subject) }
                if isOver { abandoned() } else { completion(self) }
            }
        }
    }

    func runOnPool(_ answer: PreparedAnswer) {
        enqueue(on: answer.subject) { call in
            let job = AnswerJob(call.builder, answer.facts, call.context)
            return ({ job.run(answer.write) }, { $0.finish(job, answer.facts) })
        }
    }

    var builder: AnswerBuilder {
        AnswerBuilder(
            encoder: opening.encoder, maximumBytes: caller?.engine.limits.maxAnswerBytes ?? .max)
    }

    func finish(_ job: AnswerJob, _ facts: AnswerFacts) {
        if let error = job.error { return fail(error) }
        finish(FinishedAnswer(bytes: job.bytes, part: .result, facts: facts))
    }

    // MARK: Its end

    func sentItem() { if answered == nil { answered = MonotonicClock.now() } }

    func finish(_ answer: FinishedAnswer) {
        guard let transport = end(.ok) else { return }
        transport.call(self, answered: answer)
    }

    /// Ends the call before its answer: an error goes out in its place, and its work is to stop.
    package func fail(_ error: RPCError) {
        guard let transport = end(error.code) else { return }
        transport.call(self, failed: error)
    }

    /// Nobody waits for the call any more.
    func abandon() { _ = end(.cancelled) }

    /// Stops the work and counts the call; nil if it was over already.
    private func end(_ status: StatusCode) -> (any CallTransport)? {
        guard let caller else { return nil }
        self.caller = nil
        caller.remove(self)
        deadlineTimer = nil
        context.cancel()
        caller.engine.callEnded(caller.share)
        caller.engine.load.input.add(-opening.request.memoryBytes, of: caller.share)
        caller.engine.record(
            served, opening.request, by: caller.peer, status, since: started, until: answered,
            changed: context.changed)
        switch work {
        case .unary: break
        case .clientStream(let input):
            caller.inputBytes -= input.drop()
            if status != .ok { input.cancel(on: caller.engine.loop) }
        case .serverStream(let stream, let output):
            output.close()
            stream.ended()
        case .waiting(let delay): delay.end()
        }
        return caller.transport
    }
}

/// An answer in the making. Written by one thread and read by another after the loop's hand-over, which orders the two;
/// that is why it may be shared.
final class AnswerJob: @unchecked Sendable {
    let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
    private(set) var error: RPCError?
    private let builder: AnswerBuilder
    private let facts: AnswerFacts
    private let context: CallContext

    init(_ builder: AnswerBuilder, _ facts: AnswerFacts, _ context: CallContext) {
        self.builder = builder
        self.facts = facts
        self.context = context
    }

    func run(_ write: (CallContext, inout ByteWriter) throws(RPCError) -> Void) {
        do throws(RPCError) {
            try builder.make(.result, facts, into: &bytes.writer) { (bytes) throws(RPCError) in
                try context.check()
                try write(context, &bytes)
            }
        } catch { self.error = error }
    }
}
