// SPDX-License-Identifier: MIT
import ClusterProtocol
import SystemSupport

/// A call that was not answered immediately: the only owner of its id, deadline, cancellation and
/// work. Used only on the loop's thread.
package final class Call {
    var pending: PendingCall
    /// Nil once the call is over.
    private(set) var caller: Caller?
    /// When the first item of a stream was sent. A stream may last for days without being slow.
    private var answered: UInt64?
    var work: Work
    private var deadlineTimer: AnyObject?
    private var expiryTimer: AnyObject?
    /// Its jobs that wait for the pool, and those that it runs.
    private var (waitingJobs, runningJobs) = (0, 0)
    /// Counts the call while its work goes on after its end.
    private var stopping: Caller?

    enum Work {
        /// Running on the pool, or queued for it.
        case unary(PreparedAnswer)
        case clientStream(ClientStreamInput)
        case serverStream(any ServerStream, StreamOutput)
        /// Waiting until its source has reached a position, or has been read after a start.
        case waiting(CallDelay)
    }

    init(_ pending: PendingCall, by caller: Caller, _ work: Work) {
        self.pending = pending
        self.caller = caller
        self.work = work
    }

    package var id: Int64 { pending.request.id }
    package var method: MethodDeclaration { pending.method.declaration }
    var context: CallContext { pending.context }
    package var isOver: Bool { caller == nil }

    /// Whether the call may last for as long as its client wants.
    var isEndless: Bool {
        switch work {
        case .serverStream: method.kind == .both
        case .waiting: true
        case .unary, .clientStream: false
        }
    }

    func beginWork() {
        switch work {
        case .unary(let answer): runOnPool(answer)
        case .clientStream: break
        case .serverStream(_, let output): output.open(self)
        case .waiting(let delay): begin(delay)
        }
    }

    /// Ends the call at its deadline. A timer may fire a little early, because its loop counts from the beginning of an
    /// iteration; then it is started again.
    func startDeadline() {
        guard let caller, let deadline = context.deadline else { return }
        let now = MonotonicClock.now()
        let left = deadline > now ? (deadline - now) / 1_000_000 + 1 : 0
        deadlineTimer = caller.engine.loop.timer(after: left, every: 0) { [weak self] in
            guard let self else { return }
            if context.isPastDeadline { fail(CallContext.deadlineError) } else { startDeadline() }
        }
    }

    /// Ends a call that may last for ever once its caller's token expires. The clock may be set meanwhile, so it is
    /// read again.
    func startExpiry() {
        guard method.kind == .both, let caller, let token = context.caller.token else { return }
        let left = max(0, min(token.expires - WallClock.now(), 3600))
        expiryTimer = caller.engine.loop.timer(after: UInt64(left * 1000) + 1, every: 0) { [weak self] in
            guard let self else { return }
            if WallClock.now() < token.expires { return startExpiry() }
            fail(RPCError(.unauthenticated, "The token has expired. Call again with a new one."))
        }
    }

    // MARK: What the client does

    /// Receives an item, or more bytes of a file.
    package func receive(_ item: [UInt8]) {
        switch work {
        case .unary: break
        case .clientStream(let input): receive(item, input)
        case .serverStream(let stream, _): attempt { () throws(RPCError) in try stream.receive(item) }
        case .waiting(let delay): attempt { () throws(RPCError) in try keep(item, in: delay) }
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

    var jobQueue: (pool: PoolQueue, queue: PoolQueue.JobQueue)? {
        guard let caller else { return nil }
        let load = caller.engine.load
        let threads = method.threads
        return (threads == .change ? load.changes : load.queries, caller.jobQueue(for: threads))
    }

    /// Queues a job for the pool among the caller's other jobs. Does nothing if the call is over.
    ///
    /// - Parameters:
    ///   - subject: no two jobs with the same subject run at the same time.
    ///   - begin: makes the job on the loop's thread when its turn has come.
    ///   - completion: called on the loop's thread after the job.
    ///   - abandoned: called on the loop's thread instead of `completion` if the call has ended before.
    func enqueue(
        on subject: PoolSubject? = nil,
        _ begin: @escaping (Call) -> (body: @Sendable () -> Void, completion: (Call) -> Void),
        abandoned: @escaping () -> Void = {}
    ) {
        guard let (pool, queue) = jobQueue else { return }
        waitingJobs += 1
        pool.run(in: queue, on: subject, for: self) { [self] in
            waitingJobs -= 1
            guard let loop = caller?.engine.loop else {
                abandoned()
                return pool.finished(in: queue, on: subject)
            }
            let (body, completion) = begin(self)
            runningJobs += 1
            loop.work(isLong: method.threads == .change, body) { [self] in
                // The memory of this answer is counted before the next job begins.
                defer { pool.finished(in: queue, on: subject) }
                runningJobs -= 1
                if isOver { abandoned() } else { completion(self) }
                if runningJobs == 0 { stopped() }
            }
        } dropped: { [self] in
            waitingJobs -= 1
            abandoned()
        }
    }

    func runOnPool(_ answer: PreparedAnswer) {
        enqueue(on: answer.subject) { call in
            let view = call.method.threads == .query ? call.caller?.mostOfView : nil
            let job = AnswerJob(call.pending, mostBytes: min(call.mostBytes, view ?? .max))
            return (
                { job.run(answer.write) },
                { call in
                    guard let view, job.error == .tooLarge(view) else {
                        return call.finish(job)
                    }
                    call.exceeded(view: view)
                    call.runOnPool(answer)
                }
            )
        }
    }

    func exceeded(view: Int) {
        if view >= UnreadBudget.view { caller?.unread.exceededView() }
    }

    /// The maximum size of an answer with its envelope, in bytes.
    var mostBytes: Int { caller?.engine.limits.maxAnswerBytes ?? .max }

    func finish(_ job: AnswerJob) {
        if let error = job.error { return fail(error) }
        finish(job.bytes)
    }

    // MARK: Its end

    func sentItem() { if answered == nil { answered = MonotonicClock.now() } }

    func finish(_ answer: OutgoingBytes) {
        guard let transport = end(.ok) else { return }
        transport.call(self, answered: answer)
    }

    /// Ends the call with an error instead of an answer, and cancels its work.
    package func fail(_ error: RPCError) {
        guard let transport = end(error.code) else { return }
        transport.call(self, failed: error)
    }

    /// Nobody waits for the call any more.
    func abandon() { _ = end(.cancelled) }

    /// Cancels the work and counts the call; nil if it was already over.
    private func end(_ status: StatusCode) -> (any CallTransport)? {
        guard let caller else { return nil }
        let jobQueue = waitingJobs > 0 ? self.jobQueue : nil
        self.caller = nil
        caller.remove(self)
        (deadlineTimer, expiryTimer) = (nil, nil)
        context.cancel()
        // A client that cancels calls and opens others must not have more work than calls.
        stopping = caller
        caller.stoppingCalls += 1
        if runningJobs == 0 { stopped() }
        giveBack(pending.request.memoryBytes, caller)
        caller.engine.record(pending, status, until: answered, changed: context.changed)
        switch work {
        case .unary: break
        case .clientStream(let input):
            caller.inputBytes -= input.drop()
            if status != .ok { input.cancel(on: caller.engine.loop) }
        case .serverStream(let stream, let output):
            caller.inputBytes -= stream.heldBytes
            output.close()
            stream.ended()
        case .waiting(let delay):
            _ = takeItems(of: delay, caller)
            delay.end()
        }
        // A job holds its params until its turn.
        if let (pool, queue) = jobQueue { pool.drop(jobsOf: self, in: queue) }
        return caller.transport
    }

    /// Stops counting the call if it is over: its work has stopped.
    private func stopped() {
        guard let caller = stopping else { return }
        stopping = nil
        caller.stoppingCalls -= 1
        caller.engine.callEnded(caller.share)
    }

    /// Stops counting the params, which are freed with this call.
    private func giveBack(_ bytes: Int, _ caller: Caller) {
        let load = caller.engine.load
        load.input.add(-bytes, of: caller.share)
        if load.hasFreedMuch(adding: bytes) { caller.engine.loop.work({ Allocator.trim() }, completion: {}) }
    }
}
