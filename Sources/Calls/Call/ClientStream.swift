// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

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
