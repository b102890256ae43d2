// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Sources

/// A served method: its declaration and its implementation.
package final class Method: Sendable {
    package let declaration: MethodDeclaration
    let implementation: Implementation
    /// Its index in `MethodSet` and in the metrics.
    let index: Int
    /// The declaration's own, at hand for each call.
    let right: AccessRight
    let threads: MethodDeclaration.Threads
    let isChange: Bool

    enum Implementation: Sendable {
        case unary(any UnaryMethod)
        case clientStream(any ClientStreamMethod)
        case serverStream(any ServerStreamMethod)
    }

    init(_ declaration: MethodDeclaration, _ implementation: Implementation, index: Int) {
        self.declaration = declaration
        self.implementation = implementation
        self.index = index
        right = declaration.right
        threads = declaration.threads
        isChange = declaration.isChange
    }
}

/// Answers a method without streams.
package protocol UnaryMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Reads the params, and decides which thread answers and from which data. Called on the loop's thread, so it
    /// must be quick. A thrown error answers the call.
    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer

    /// Whether the call need not wait until its source has been read after a start: it needs no data, or only those that
    /// the overview has.
    func canAnswer(_ params: Params, from overview: Overview) -> Bool
}

extension UnaryMethod {
    func canAnswer(_ params: Params, from overview: Overview) -> Bool { false }
}

/// An answer that can be written.
package struct PreparedAnswer: Sendable {
    /// Whether the loop's thread may write it: for answers that take tens of microseconds at most.
    package let isQuick: Bool
    package let facts: AnswerFacts
    /// The data on which the answer depends besides the params; nil if it depends on anything else.
    let version: DataVersion?
    /// What no other call may work on at the same time.
    let subject: PoolSubject?
    /// Writes the answer; if it throws, what it has written is discarded. On the pool it checks now and then
    /// whether the call has been cancelled. Called once.
    package let write: @Sendable (CallContext, inout ByteWriter) throws(RPCError) -> Void

    package init(
        isQuick: Bool, facts: AnswerFacts = AnswerFacts(), version: DataVersion? = nil,
        subject: PoolSubject? = nil,
        write: @escaping @Sendable (CallContext, inout ByteWriter) throws(RPCError) -> Void
    ) {
        self.isQuick = isQuick
        self.facts = facts
        self.version = version
        self.subject = subject
        self.write = write
    }
}

/// Answers a method whose client sends a stream.
package protocol ClientStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. Called on the loop's thread, so it must be quick.
    func begin(_ params: Params, _ call: CallContext) throws(RPCError) -> any ClientStream
}

/// A call that receives items, or the bytes of a file. Its functions are called on the pool, one after another.
package protocol ClientStream: AnyObject, Sendable {
    /// What no other call may work on while `finish` runs.
    var subject: PoolSubject? { get }
    /// Receives the JSON text of an item, or the next bytes if the call's input is a file.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// Writes the JSON value of the answer, after the last item.
    func finish(into bytes: inout ByteWriter) throws(RPCError)
    /// The call ended before `finish`: discards what it has received.
    func cancelled()
}

/// Answers a method that streams from the server; the client may stream too.
package protocol ServerStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. Called on the loop's thread, so it must be quick.
    func begin(
        _ params: Params, _ call: CallContext, _ output: any ServerStreamOutput
    ) throws(RPCError) -> any ServerStream
}

/// Through this a server stream asks to send and to run work.
package protocol ServerStreamOutput: AnyObject, Sendable {
    /// Requests a call of `next` as soon as the transport can accept an item. Repeated requests before that call
    /// have no effect, so a slow client is sent fewer items and its queue does not grow. Safe from any thread.
    func wantToSend()

    /// Counts the bytes of an item that waits for its client, until `next` is called or the call ends. On the loop's
    /// thread.
    func hold(bytes: Int)

    /// Requests a call of `next` after a delay in nanoseconds; a repeated request replaces the delay. On the
    /// loop's thread.
    func wantToSend(after delay: UInt64)

    /// Runs `body` on the pool, queued among the caller's jobs, then `completion` on the loop. Neither runs once
    /// the call is over. On the loop's thread.
    ///
    /// - Parameter body: receives the maximum size of an item in bytes.
    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void)
}

/// A call that sends items. Its functions are called on the loop's thread; it runs longer work on the pool.
package protocol ServerStream: AnyObject {
    /// Receives an item from the client.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// The client has sent its last item.
    func clientEnded() throws(RPCError)
    /// Writes the next item's JSON value and returns what it wrote; called after `wantToSend`.
    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep
    /// The call is over, for whatever reason.
    func ended()
}

/// What a server stream wrote.
package enum StreamStep: Sendable {
    case item(AnswerFacts)
    /// Nothing for now.
    case nothing
    /// The object that ends the stream successfully.
    case end
}
