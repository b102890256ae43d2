// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

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
