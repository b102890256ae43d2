// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import EventLoop
import JSON

/// A client stream's items on their way to the pool. Belongs to the loop's thread.
final class ClientStreamCall {
    let stream: any ClientStream
    var items: [[UInt8]] = []
    var queuedBytes = 0
    var inputEnded = false
    /// Whether a job of this call waits or runs; one at a time keeps the items' order.
    var isBusy = false
    private var isCancelled = false

    init(_ stream: any ClientStream) { self.stream = stream }

    /// Lets the stream forget what it took in, after the job that runs now.
    func cancel(on loop: EventLoop) {
        isCancelled = true
        if !isBusy { forget(on: loop) }
    }

    /// The job that ran, or waited, is over.
    func ranJob(on loop: EventLoop) {
        isBusy = false
        if isCancelled { forget(on: loop) }
    }

    private func forget(on loop: EventLoop) {
        let stream = stream
        loop.work({ stream.cancelled() }, completion: {})
    }
}

/// Some items of a stream, or its end, worked on by the pool.
///
/// Made on the loop's thread, run on one of the pool, looked at on the loop's again: libuv's hand-over orders
/// these; that is why it may be shared.
final class StreamJob: @unchecked Sendable {
    /// Whether no items were left, so that this job made the answer.
    let isLast: Bool
    let inputBytes: Int
    let answer = OutgoingBytes(ByteWriter(capacity: 512))
    private(set) var status = StatusCode.ok
    private(set) var error: RPCError?
    private let stream: any ClientStream
    private let context: CallContext
    private var items: [[UInt8]]
    private let frame: AnswerFrame

    init(_ stream: any ClientStream, _ context: CallContext, _ items: [[UInt8]], _ frame: AnswerFrame) {
        self.stream = stream
        self.context = context
        self.items = items
        self.frame = frame
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
        status = frame.write("result", into: &answer.writer) { (writer) throws(RPCError) in
            try context.check()
            try stream.finish(into: &writer)
        }
    }
}
