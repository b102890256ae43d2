// SPDX-License-Identifier: MIT
import ClusterProtocol

/// What a caller's calls need of its transport. Belongs to the loop's thread.
package protocol CallTransport: AnyObject {
    /// Whether everything before has been written, so that a stream may send its next item.
    var canTakeItem: Bool { get }

    /// The call has its answer, or the end of its stream; it is over.
    func call(_ call: Call, answered answer: FinishedAnswer)

    func call(_ call: Call, sent item: FinishedAnswer)

    /// The call is over without an answer.
    func call(_ call: Call, failed error: RPCError)

    /// Some of what the client streamed has been worked on: the transport may read on.
    func callTookInput(_ call: Call)
}
