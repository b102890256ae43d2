// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

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
