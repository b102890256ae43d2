// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Synchronization

@testable import RPC

/// A loop that a test steps by hand. Work for the pool is done when it is given, or when the test says so.
final class HandLoop: CallLoop {
    private final class Posted: Sendable {
        let functions = Mutex<[@Sendable () -> Void]>([])
    }

    private let posted = Posted()
    /// Timers that run once; the test decides when.
    private(set) var timers: [() -> Void] = []
    let pollingNanoseconds: UInt64 = 0
    /// Whether work that is given waits for `finishWork`.
    var holdsWork = false
    /// The work that waits.
    private(set) var heldWork: [() -> Void] = []
    /// How much work was given that others should preempt.
    private(set) var longWork = 0

    func work(isLong: Bool, _ body: @escaping @Sendable () -> Void, completion: @escaping () -> Void) {
        if isLong { longWork += 1 }
        heldWork.append {
            body()
            completion()
        }
        if !holdsWork { finishWork() }
    }

    /// Does the work that waits.
    func finishWork() {
        let work = heldWork
        heldWork = []
        for work in work { work() }
    }

    func timer(after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void) -> AnyObject {
        if interval == 0 { timers.append(body) }
        return self
    }

    var post: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [posted] function in posted.functions.withLock { $0.append(function) } }
    }

    /// Runs what was posted, and what that posts.
    func step() { while stepOnce() {} }

    /// Runs what was posted before; returns false if nothing was.
    func stepOnce() -> Bool {
        let functions = posted.functions.withLock { list in
            defer { list = [] }
            return list
        }
        for function in functions { function() }
        return !functions.isEmpty
    }
}

/// Keeps what a caller gets.
final class KeptAnswers: CallTransport {
    var canTakeItem = true

    func canTakeItem(of call: Call) -> Bool { canTakeItem }

    var answerBytes: [[UInt8]] = []
    var itemBytes: [[UInt8]] = []
    var answers: [String] { answerBytes.map { String(decoding: $0, as: UTF8.self) } }
    var items: [String] { itemBytes.map { String(decoding: $0, as: UTF8.self) } }
    var errors: [RPCError] = []

    func call(_ call: Call, answered answer: OutgoingBytes) { answerBytes.append(answer.writer.bytes) }
    func call(_ call: Call, sent item: OutgoingBytes, of revision: UInt64?) {
        itemBytes.append(item.writer.bytes)
    }
    func call(_ call: Call, failed error: RPCError) { errors.append(error) }
    func callTookInput(_ call: Call) {}
}

/// Wraps nothing around an answer.
struct BareEncoder: AnswerEncoder {
    var wireProtocol: WireProtocol { .frames }
    var compresses: Bool { false }
    func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {}
    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter) {}
}
