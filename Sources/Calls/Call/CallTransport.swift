// SPDX-License-Identifier: MIT
import ClusterProtocol

/// What calls need from their transport. Used only on the loop's thread.
package protocol CallTransport: AnyObject {
    /// Whether everything so far has been written, so that a stream may send its next item.
    var canTakeItem: Bool { get }

    /// The call has its answer, or the end of its stream; it is over.
    func call(_ call: Call, answered answer: FinishedAnswer)

    func call(_ call: Call, sent item: FinishedAnswer)

    /// The call is over without an answer.
    func call(_ call: Call, failed error: RPCError)

    /// Some of the client's input has been processed, so the transport may continue reading.
    func callTookInput(_ call: Call)
}
