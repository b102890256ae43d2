// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Where a call is answered.
public enum Placement: Sendable {
    /// On the loop's thread: for what takes some tens of microseconds at most.
    case loop
    /// On the thread pool, for everything longer.
    case pool
}

/// Answers a method without streams.
public protocol UnaryHandler: Sendable {
    /// Where this call belongs, by its params. Called on the loop's thread; must be quick. An error here is
    /// the call's answer.
    func placement(_ params: Params) throws(RPCError) -> Placement

    /// Writes the JSON value that stands under `result`. What was written before an error is left out.
    /// On the pool it looks at `call` now and then, and gives up where that says so.
    func answer(_ params: Params, _ call: CallContext, into bytes: inout ByteWriter) throws(RPCError)

    /// Both in one, for handlers whose answer goes on from what its place has found out already. On the
    /// loop's thread; must be quick.
    func prepare(_ params: Params) throws(RPCError) -> PreparedAnswer
}

/// Where a call is answered, and how.
public struct PreparedAnswer: Sendable {
    public let placement: Placement
    /// As `UnaryHandler.answer`; to be called once.
    public let answer: @Sendable (CallContext, inout ByteWriter) throws(RPCError) -> Void

    public init(
        placement: Placement,
        answer: @escaping @Sendable (CallContext, inout ByteWriter) throws(RPCError) -> Void
    ) {
        self.placement = placement
        self.answer = answer
    }
}

extension UnaryHandler {
    public func prepare(_ params: Params) throws(RPCError) -> PreparedAnswer {
        PreparedAnswer(placement: try placement(params)) { (call, bytes) throws(RPCError) in
            try answer(params, call, into: &bytes)
        }
    }
}

/// Answers a method whose client sends a stream of items.
public protocol ClientStreamHandler: Sendable {
    /// Opens the stream. On the loop's thread; must be quick.
    func begin(_ params: Params, _ call: CallContext) throws(RPCError) -> any ClientStream
}

/// A call that takes items in. Its functions are called on the thread pool, one after another.
public protocol ClientStream: AnyObject, Sendable {
    /// Takes in the JSON text of an item.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// Writes the JSON value that stands under `result`, after the last item.
    func finish(into bytes: inout ByteWriter) throws(RPCError)
    /// The call ended before `finish`: what was taken in is to be forgotten.
    func cancelled()
}

/// Answers a method that streams from the server, where the client may stream too.
public protocol ServerStreamHandler: Sendable {
    /// Opens the stream. On the loop's thread; must be quick.
    func begin(
        _ params: Params, _ call: CallContext, _ output: any ServerStreamOutput
    ) throws(RPCError) -> any ServerStream
}

/// The way back of a server stream. Safe from any thread.
public protocol ServerStreamOutput: AnyObject, Sendable {
    /// Asks to be called for the next item as soon as the connection can take one. Asking again before
    /// that changes nothing, so a slow client is sent fewer items and never a growing queue.
    func wantToSend()

    /// The same after a while, in nanoseconds; asking again moves the moment. On the loop's thread.
    func wantToSend(after delay: UInt64)

    /// Runs `body` on the thread pool in the connection's turn, then `completion` on the loop; neither once
    /// the connection has gone. On the loop's thread.
    ///
    /// - Parameter body: told the most bytes that an item may have.
    func runOnPool(
        _ body: @escaping @Sendable (_ mostBytes: Int) -> Void, completion: @escaping () -> Void)
}

/// A call that sends items. Its functions are called on the loop's thread; longer work they put elsewhere.
public protocol ServerStream: AnyObject {
    /// Takes in an item of the client's.
    func receive(_ item: [UInt8]) throws(RPCError)
    /// The client has sent its last item.
    func clientEnded() throws(RPCError)
    /// Writes the next item's JSON value, and says what it was; called after `wantToSend`.
    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep
    /// The call is over, for whatever reason.
    func ended()
}

/// What a server stream wrote.
public enum StreamStep: Sendable {
    case item
    /// Nothing for now.
    case nothing
    /// The object that ends the stream well.
    case end
}

/// What answers a method.
public enum MethodHandler: Sendable {
    case unary(any UnaryHandler)
    case clientStream(any ClientStreamHandler)
    case serverStream(any ServerStreamHandler)
}

/// Methods' handlers by full name, such as `clusterd.v1.ClusterService/GetClusters`.
public typealias MethodHandlers = [String: MethodHandler]
