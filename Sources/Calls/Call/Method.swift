// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A method that is served: its declaration and what answers it.
package final class Method: Sendable {
    package let declaration: MethodDeclaration
    let implementation: Implementation
    /// Its index in `MethodSet`, and in the metrics.
    let index: Int

    enum Implementation: Sendable {
        case unary(any UnaryMethod)
        case clientStream(any ClientStreamMethod)
        case serverStream(any ServerStreamMethod)
    }

    init(_ declaration: MethodDeclaration, _ implementation: Implementation, index: Int) {
        self.declaration = declaration
        self.implementation = implementation
        self.index = index
    }
}

/// Answers a method without streams.
package protocol UnaryMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Reads the params, and decides which thread answers and from which data. On the loop's thread, so it must be
    /// quick. An error is the call's answer.
    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer
}

/// An answer that is about to be made.
package struct PreparedAnswer: Sendable {
    /// Whether the loop's thread makes it: for what takes some tens of microseconds at most.
    package let isQuick: Bool
    package let facts: AnswerFacts
    /// The data that it depends on, besides the params; nil if it depends on more.
    let version: DataVersion?
    /// What no other call works on meanwhile.
    let subject: PoolSubject?
    /// Writes the answer; what was written before an error is left out. On the pool it asks the call now and then
    /// whether to go on. Called once.
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

    /// Opens the stream. On the loop's thread; must be quick.
    func begin(_ params: Params, _ call: CallContext) throws(RPCError) -> any ClientStream
}

/// A call that takes items, or a file's bytes. Its functions are called on the pool, one after another.
package protocol ClientStream: AnyObject, Sendable {
    /// What no other call works on while `finish` runs.
    var subject: PoolSubject? { get }
    /// Takes the JSON text of an item; or, if the call's input is bytes, the next of them.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// Writes the JSON value of the answer, after the last item.
    func finish(into bytes: inout ByteWriter) throws(RPCError)
    /// The call ended before `finish`: forgets what it took.
    func cancelled()
}

/// Answers a method that streams from the server; the client may stream too.
package protocol ServerStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. On the loop's thread; must be quick.
    func begin(
        _ params: Params, _ call: CallContext, _ output: any ServerStreamOutput
    ) throws(RPCError) -> any ServerStream
}

/// The way back of a server stream.
package protocol ServerStreamOutput: AnyObject, Sendable {
    /// Asks to be called for the next item as soon as the transport can take one. Asking again before
    /// that changes nothing, so a slow client is sent fewer items, and its queue does not grow. Safe from any thread.
    func wantToSend()

    /// The same after a while, in nanoseconds; asking again moves the moment. On the loop's thread.
    func wantToSend(after delay: UInt64)

    /// Runs `body` on the pool, queued among the caller's jobs, then `completion` on the loop; neither once the call is over.
    /// On the loop's thread.
    ///
    /// - Parameter body: gets the most bytes that an item may have.
    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void)
}

/// A call that sends items. Its functions are called on the loop's thread; it puts longer work on the pool.
package protocol ServerStream: AnyObject {
    /// Takes an item of the client.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// The client has sent its last item.
    func clientEnded() throws(RPCError)
    /// Writes the next item's JSON value and returns what it was; called after `wantToSend`.
    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep
    /// The call is over, for whatever reason.
    func ended()
}

/// What a server stream wrote.
package enum StreamStep: Sendable {
    case item(AnswerFacts)
    /// Nothing now.
    case nothing
    /// The object that ends the stream successfully.
    case end
}
