// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceEngine

/// Makes calls over one connection: holds its open calls and starts new ones. Belongs to the loop's thread.
package final class Caller {
    package let engine: CallEngine
    /// The client of the connection. Its calls may be those of a token's bearer instead.
    package private(set) var identity: Identity
    package var peer: Peer { identity.peer }
    /// What the peer's process may do.
    package var right: AccessRight { identity.right }
    /// What all connections of the same user use together.
    package var share: UserShare { unread.share }
    /// What the client has not read.
    package let unread: UnreadAccount
    unowned let transport: any CallTransport
    private var machine = ConnectionStateMachine<Call>()
    /// Calls that are over but whose work has not stopped.
    package internal(set) var stoppingCalls = 0
    /// The queues in which its calls wait for the pool: one for calls that read sources, one for calls that
    /// change them. Made when first needed: most connections never need them.
    private var jobQueues: (queries: PoolQueue.JobQueue, changes: PoolQueue.JobQueue)?
    private var isHeld = false
    /// The queue in which its large messages wait to be read; nil before the first one.
    private var readings: PoolQueue.JobQueue?
    /// Bytes streamed by the client that wait for the pool.
    package internal(set) var inputBytes = 0 {
        didSet { engine.load.streams.add(inputBytes - oldValue, of: share) }
    }
    /// Whether the transport should stop reading for now: too many bytes streamed on this connection, or by this
    /// user on all connections, wait for the pool.
    package var isInputFull: Bool {
        inputBytes > engine.limits.maxStreamBytes
            || inputBytes > 0 && engine.load.streams.isExceeded(by: share, limit: engine.limits.maxInputBytes)
            || inputBytes > engine.limits.maxMessageBytes && machine.works.contains(where: \.isInputFull)
    }

    package init(
        _ engine: CallEngine, peer: Peer, right: AccessRight, unread: UnreadAccount, transport: any CallTransport
    ) {
        self.engine = engine
        identity = Identity(peer, right: right)
        self.unread = unread
        self.transport = transport
    }

    /// The job queue for calls of a kind.
    func jobQueue(for threads: MethodDeclaration.Threads) -> PoolQueue.JobQueue {
        let jobQueues = self.jobQueues ?? makeJobQueues()
        return threads == .change ? jobQueues.changes : jobQueues.queries
    }

    private func makeJobQueues() -> (queries: PoolQueue.JobQueue, changes: PoolQueue.JobQueue) {
        let made = (
            queries: PoolQueue.JobQueue(unread, post: engine.loop.post),
            changes: PoolQueue.JobQueue(unread, post: engine.loop.post)
        )
        jobQueues = made
        if isHeld { engine.load.queries.hold(made.queries, true) }
        return made
    }

    package var openCalls: Int { machine.openCalls }
    /// Calls that count as in flight: also those that are over but whose work has not stopped.
    package var callsInFlight: Int { machine.openCalls + stoppingCalls }

    // MARK: Opening

    /// Reads a call's params and determines which thread answers it; does no work on data.
    ///
    /// - Parameters:
    ///   - request: its id is unique among the caller's open calls.
    ///   - identity: who makes the call: the client of the connection, or the bearer of a token.
    package func prepare(
        _ request: consuming CallRequest, by identity: Identity, as encoder: any AnswerEncoder,
        input: InputForm = .items
    ) throws(RPCError) -> PendingCall {
        try machine.checkFree(request.id)
        if engine.isDraining { throw Self.drainError }
        guard let method = engine.methods[request.method] else {
            throw RPCError(.unimplemented, "There is no method \"\(request.method)\". GetServerInfo lists the methods.")
        }
        guard hasRoomForCall else {
            throw RPCError(.resourceExhausted, "Too many calls are in flight. Wait for some to be answered.")
        }
        let started = MonotonicClock.now()
        let context = CallContext(
            caller: identity, deadline: engine.deadline(of: request, from: started),
            form: encoder.form, input: input, share: share)
        var params = Params(request.params, text: request.paramsText)
        if engine.hasRules { params.access = engine.access.access(of: identity) }
        var call = PendingCall(
            request: request, encoder: encoder, method: method, started: started, params: params, context: context)
        do throws(RPCError) { try plan(&call) } catch {
            record(call, error.code)
            throw error
        }
        return call
    }

    private func plan(_ call: inout PendingCall) throws(RPCError) {
        let caller = call.context.caller
        if let token = caller.token, WallClock.now() >= token.expires {
            throw RPCError(.unauthenticated, "The token has expired.")
        }
        if caller.right < call.method.declaration.right { throw caller.denial(of: call.method.declaration) }
        try call.params.rejectUnknown(call.method.declaration.paramNames)
        // Before the answer takes its data: a change that is published in between would end the wait for data that lack
        // it.
        call.wait = try engine.methods.find(call.method, &call.params)
        guard call.wait?.condition != .read else { return }
        // Invalid params are reported before the wait.
        let answer = try prepared(call)
        if call.wait == nil { call.answer = answer }
    }

    /// The call's answer; nil if it has items, or waits for those of its client.
    private func prepared(_ call: PendingCall) throws(RPCError) -> PreparedAnswer? {
        switch call.method.implementation {
        case .unary(let method): try method.prepare(call.params, call.context)
        case .clientStream: nil
        case .serverStream(let method): try method.prepare(call.params, call.context)
        }
    }

    /// Starts a call. If it can be answered at once, the answer is appended to `bytes`; otherwise the answer, or the
    /// stream, is delivered to the transport later.
    ///
    /// - Returns: the call; nil if it is answered.
    package func start(_ call: PendingCall, into bytes: inout ByteWriter) throws(RPCError) -> Call? {
        do throws(RPCError) {
            if let answer = call.answer, try answerNow(call, answer, into: &bytes) { return nil }
            try checkRoom(for: call)
            return open(call, call.wait == nil ? try work(of: call) : .waiting(CallDelay()))
        } catch {
            record(call, error.code)
            throw error
        }
    }

    /// What a call does that waits for nothing.
    func work(of call: PendingCall) throws(RPCError) -> Call.Work {
        switch call.method.implementation {
        case .unary(let method):
            if let answer = call.answer { return work(of: answer) }
            return work(of: try method.prepare(call.params, call.context))
        case .clientStream(let method):
            return .clientStream(ClientStreamInput(try method.begin(call.params, call.context)))
        case .serverStream(let method):
            if let answer = call.answer { return work(of: answer) }
            if let answer = try method.prepare(call.params, call.context) { return work(of: answer) }
            let output = StreamOutput(engine)
            return .serverStream(try method.begin(call.params, call.context, output), output)
        }
    }

    private func work(of answer: PreparedAnswer) -> Call.Work {
        guard let stream = answer.stream else { return .unary(answer) }
        let output = StreamOutput(engine)
        return .serverStream(stream(output), output)
    }

    /// Answers a call on the loop's thread; returns false if the pool has to answer it.
    private func answerNow(
        _ call: PendingCall, _ answer: PreparedAnswer, into bytes: inout ByteWriter
    ) throws(RPCError) -> Bool {
        guard answer.isQuick, !call.encoder.compresses else { return false }
        let view = call.method.declaration.threads == .query ? mostOfView : nil
        do throws(RPCError) {
            try call.write(within: min(engine.limits.maxAnswerBytes, view ?? .max), into: &bytes, answer.write)
        } catch {
            // A large answer is written once the user's clients have read what is queued for them.
            guard view != nil, error.code == .resourceExhausted else { throw error }
            if error == .tooLarge(UnreadBudget.view) { unread.exceededView() }
            return false
        }
        record(call, .ok)
        return true
    }

    /// The most bytes of an answer while clients must read before a large one is begun: a larger one is discarded,
    /// and made again once there is room. Nil if there is room.
    var mostOfView: Int? {
        engine.load.unread.isSpent(for: unread) ? engine.load.unread.allowance(of: unread) : nil
    }

    /// Prepares and starts a call.
    package func open(
        _ request: consuming CallRequest, by identity: Identity, as encoder: any AnswerEncoder,
        into bytes: inout ByteWriter
    ) throws(RPCError) -> Call? {
        try start(try prepare(request, by: identity, as: encoder), into: &bytes)
    }

    /// Records a prepared call that the transport answers without running it, for example with "not modified".
    package func dismiss(_ call: PendingCall) { record(call, .ok) }

    private func record(_ call: PendingCall, _ status: StatusCode) {
        engine.record(call, status)
    }

    /// Rejects a call that cannot be answered at once if its user's calls hold too much memory already.
    private func checkRoom(for call: PendingCall) throws(RPCError) {
        let memory = call.request.memoryBytes
        try checkHeld(memory, limit: engine.limits.maxInputBytes - memory)
    }

    /// Throws if the user's calls hold too much memory, unless the last part is small.
    func checkHeld(_ part: Int, limit: Int? = nil) throws(RPCError) {
        guard
            part <= Self.alwaysHeld
                || !engine.load.input.isExceeded(by: share, limit: limit ?? engine.limits.maxInputBytes)
        else { throw Self.tooMuchHeld }
    }

    private func open(_ pending: PendingCall, _ work: Call.Work) -> Call {
        engine.load.input.add(pending.request.memoryBytes, of: share)
        let call = Call(pending, by: self, work)
        machine.add(call, call.id, call.method.kind, needsEveryItem: call.method.needsEveryItem)
        engine.callBegan(share)
        call.startDeadline()
        call.startExpiry()
        call.beginWork()
        return call
    }

    var hasRoomForCall: Bool {
        let limits = engine.limits
        guard engine.load.callsInFlight < limits.maxCalls, callsInFlight < limits.maxCallsPerConnection
        else { return false }
        let most = limits.maxCallsPerUser
        return most == 0 || share[.calls] < most || right == .admin
    }

    /// Params up to this size are always accepted, because the number of calls is limited.
    private static let alwaysHeld = 4 << 10
    private static let tooMuchHeld = RPCError(
        .resourceExhausted,
        "The server holds too many bytes of waiting calls. Wait for some to be answered, or send smaller calls.")
    private static let drainError = RPCError(.unavailable, "The server is shutting down. Try again soon.")

    /// Runs `body` on the pool, queued among the caller's queries, then `completion` on the loop's thread. The
    /// connection may have closed by then. For work of a transport that is not a call.
    package func runOnPool<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value, completion: @escaping (Value) -> Void
    ) {
        let jobQueue = jobQueue(for: .query)
        engine.load.queries.run(in: jobQueue) { [engine] in
            let outcome = PoolOutcome<Value>()
            engine.loop.work {
                outcome.set(body())
            } completion: {
                defer { engine.load.queries.finished(in: jobQueue) }
                if let value = outcome.take() { completion(value) }
            }
        }
    }

    /// Reads a large message on the pool, then runs `completion` on the loop's thread. Neither happens if the
    /// connection closes before the message's turn.
    ///
    /// - Parameters:
    ///   - memory: the maximum memory that reading uses, in bytes.
    ///   - giveBack: runs on the pool after `completion`, when what was read is not held any more, and gives its memory
    ///     back
    ///     to the system. The memory counts until then, so that the user's next large message does not add to it.
    package func readOnPool<Value: Sendable>(
        taking memory: Int, giveBack: (@Sendable () -> Void)? = nil, _ body: @escaping @Sendable () -> Value,
        completion: @escaping (Value) -> Void
    ) {
        let jobQueue = readings ?? PoolQueue.JobQueue(unread, post: engine.loop.post)
        readings = jobQueue
        engine.load.reading.run(in: jobQueue, claim: { [share] in share.add(memory, to: .reading) }) {
            [engine, share] in
            let outcome = PoolOutcome<Value>()
            let release = {
                share.add(-memory, to: .reading)
                engine.load.reading.retry()
            }
            engine.loop.work {
                outcome.set(body())
            } completion: {
                if giveBack == nil { release() }
                if let value = outcome.take() { completion(value) }
                engine.load.reading.finished(in: jobQueue)
                if let giveBack { engine.loop.work(giveBack, completion: release) }
            }
        }
    }

    // MARK: Messages for open calls

    package func receive(item: [UInt8], for id: Int64) { carryOut(machine.receive(item: item, for: id), id) }

    package func receiveEnd(for id: Int64) { carryOut(machine.receiveEnd(for: id), id) }

    package func receiveCancel(for id: Int64) { carryOut(machine.receiveCancel(for: id), id) }

    /// Handles a message that has a valid id but cannot be used. Ends the call with that id, or returns the error
    /// with which to answer if the message ends no call.
    package func receive(unusable failure: EnvelopeError, id: Int64) -> RPCError? {
        let action = machine.receive(unusable: failure, id: id)
        if case .refuse(let error) = action { return error }
        carryOut(action, id)
        return nil
    }

    /// Handles a message that could not be read at all.
    package func receive(unreadable failure: EnvelopeError) {
        for action in machine.receive(unreadable: failure) { carryOut(action, 0) }
    }

    private func carryOut(_ action: ConnectionStateMachine<Call>.Action, _ id: Int64) {
        switch action {
        case .deliver(let call, let item): call.receive(item)
        case .endInput(let call): call.endInput()
        case .cancel(let call): call.fail(CallContext.cancelledError)
        case .fail(let call, let error): call.fail(error)
        case .refuse, .ignore: break
        }
    }

    // MARK: All calls

    func remove(_ call: Call) { machine.remove(call.id) }

    /// Everything queued has been written: streams may send their next items.
    package func transportIsReady() {
        guard machine.openCalls > 0 else { return }
        for call in machine.works { call.wantToSend() }
    }

    /// Suspends (or resumes) starting its queries on the pool, because the client must read first.
    package func hold(_ isHeld: Bool) {
        // All loops share the queue's lock, so it is taken only for a change.
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        if let jobQueues { engine.load.queries.hold(jobQueues.queries, isHeld) }
    }

    /// Applies a changed configuration: open calls that it does not allow any more, or whose caller now sees another part
    /// of the source, end with an error.
    ///
    /// - Parameters:
    ///   - right: the peer's right.
    ///   - renew: who makes a call from now on; throws if its caller is not known any more.
    package func take(
        _ right: AccessRight, _ renew: (Identity) throws(RPCError) -> Identity = { (known) in known }
    ) {
        identity = Identity(peer, right: right)
        for call in machine.works {
            do throws(RPCError) {
                let caller = try renew(call.context.caller.token == nil ? identity : call.context.caller)
                if caller.right < call.method.right { throw caller.denial(of: call.method) }
                try checkUnchanged(call, by: caller)
            } catch { call.fail(error) }
        }
    }

    /// Throws if a call's caller sees another part of the source than when the call began.
    private func checkUnchanged(_ call: Call, by caller: Identity) throws(RPCError) {
        guard case .string(let text)? = call.pending.params[.source], let name = SourceReference(text)?.source
        else { return }
        let (old, new) = (call.pending.params.access, engine.access.access(of: caller))
        guard new?.sees(name) != false else { throw RPCError(.sourceNotFound(name)) }
        guard try old?.seenPart(on: name) != new?.seenPart(on: name) else { return }
        throw RPCError(.unavailable, "The rules of access to the source '\(name)' have changed. Call again.")
    }

    /// The client sends nothing more: cancels the streams that it has not ended.
    package func inputEnded() {
        for call in machine.unendedStreams { call.fail(CallContext.cancelledError) }
    }

    /// The server is about to shut down: ends the calls that would never end by themselves.
    package func drain() {
        for call in machine.works where call.isEndless { call.fail(Self.drainError) }
    }

    /// Ends all calls with an error.
    package func fail(_ error: RPCError) {
        for call in machine.works { call.fail(error) }
    }

    /// The connection is closed: abandons its calls.
    package func close() {
        if let jobQueues {
            engine.load.queries.clear(jobQueues.queries)
            engine.load.changes.clear(jobQueues.changes)
        }
        if let readings { engine.load.reading.clear(readings) }
        for call in machine.works { call.abandon() }
    }
}

/// What calls need from their transport. Used only on the loop's thread.
package protocol CallTransport: AnyObject {
    /// Whether everything that the client must read before a stream's next item has been written: by one queue for all
    /// calls, or by the call's own.
    func canTakeItem(of call: Call) -> Bool

    /// The call has its answer, or the end of its stream; it is over.
    func call(_ call: Call, answered answer: OutgoingBytes)

    /// A stream's next item is ready.
    ///
    /// - Parameter revision: the number of the source revision that it was made from; nil if there is none.
    func call(_ call: Call, sent item: OutgoingBytes, of revision: UInt64?)

    /// The call is over without an answer.
    func call(_ call: Call, failed error: RPCError)

    /// Some of the client's input has been processed, so the transport may continue reading.
    func callTookInput(_ call: Call)
}
