// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

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
