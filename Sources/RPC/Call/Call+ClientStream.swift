// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A client stream's items that wait for the pool. Used only on the loop's thread.
final class ClientStreamInput {
    let stream: any ClientStream
    fileprivate var items: [[UInt8]] = []
    /// Bytes of items that have not been processed.
    fileprivate(set) var queuedBytes = 0
    var hasEnded = false
    /// Whether a job of this call is queued or running. One at a time keeps the items in order.
    fileprivate var isBusy = false
    private var isCancelled = false

    init(_ stream: any ClientStream) { self.stream = stream }

    /// Drops the waiting items, and returns their size in bytes.
    func drop() -> Int {
        defer { queuedBytes = 0 }
        items = []
        return queuedBytes
    }

    /// Discards what the stream has received, after the running job.
    func cancel(on loop: any CallLoop) {
        isCancelled = true
        if !isBusy { forget(on: loop) }
    }

    /// The running or queued job is over.
    fileprivate func jobIsOver(on loop: any CallLoop) {
        isBusy = false
        if isCancelled { forget(on: loop) }
    }

    private func forget(on loop: any CallLoop) {
        isCancelled = false
        loop.work({ [stream] in stream.cancelled() }, completion: {})
    }
}

extension Call {
    /// Bytes of the client's items that wait to be processed.
    package var waitingInputBytes: Int {
        switch work {
        case .clientStream(let input): input.queuedBytes
        case .waiting(let delay): delay.waitingBytes
        case .serverStream(let stream, _): stream.waitingBytes
        case .unary: 0
        }
    }

    /// Whether so much of a log waits to be applied that nothing more is read.
    var isInputFull: Bool {
        guard case .serverStream(let stream, _) = work, let limits = caller?.engine.limits else { return false }
        return stream.waitingBytes > limits.maxMessageBytes
    }

    func receive(_ item: [UInt8], _ input: ClientStreamInput) {
        input.items.append(item)
        input.queuedBytes += item.count
        caller?.inputBytes += item.count
        advance(input)
    }

    /// Queues the next job of a stream: the waiting items, or the end.
    func advance(_ input: ClientStreamInput) {
        guard !input.isBusy, !input.items.isEmpty || input.hasEnded, let loop = caller?.engine.loop else {
            return
        }
        input.isBusy = true
        // Items are only parsed. The last job changes the source.
        enqueue(on: input.items.isEmpty ? input.stream.subject : nil) { call in
            let items = input.items
            input.items = []
            let job = ItemsJob(input.stream, items, AnswerJob(call.pending, mostBytes: call.mostBytes), call.context)
            return (
                { job.run() },
                { call in
                    input.jobIsOver(on: loop)
                    call.finished(job, input)
                }
            )
        } abandoned: {
            input.jobIsOver(on: loop)
        }
    }

    private func finished(_ job: ItemsJob, _ input: ClientStreamInput) {
        input.queuedBytes -= job.inputBytes
        caller?.inputBytes -= job.inputBytes
        if let error = job.error { return fail(error) }
        if job.isLast { return finish(job.answer) }
        advance(input)
        if let caller { caller.transport.callTookInput(self) }
    }
}

/// Some items of a stream, or its end, processed by the pool.
///
/// Made on the loop's thread, run on a thread of the pool, and read on the loop's thread again. The loop's hand-over
/// orders these, so it may be shared.
private final class ItemsJob: @unchecked Sendable {
    /// Whether there were no more items, so that this job wrote the answer.
    let isLast: Bool
    let inputBytes: Int
    let answer: AnswerJob
    private(set) var error: RPCError?
    private let stream: any ClientStream
    private let context: CallContext
    private var items: [[UInt8]]

    init(_ stream: any ClientStream, _ items: [[UInt8]], _ answer: AnswerJob, _ context: CallContext) {
        self.stream = stream
        self.items = items
        self.answer = answer
        self.context = context
        isLast = items.isEmpty
        inputBytes = items.reduce(0) { $0 + $1.count }
    }

    func run() {
        do throws(RPCError) {
            for item in items {
                try context.check()
                try stream.receive(item)
            }
        } catch { self.error = error }
        items = []
        guard isLast else { return }
        answer.run { [stream] (_, bytes) throws(RPCError) in try stream.finish(into: &bytes) }
    }
}
