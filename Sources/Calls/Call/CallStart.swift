// SPDX-License-Identifier: MIT
import ClusterProtocol

/// What starting a call resulted in.
package enum CallStart {
    /// The answer has been appended to the bytes.
    case answered(AnswerFacts)
    /// The answer, or the stream, will be delivered to the transport.
    case open(Call)
    case failed(RPCError)
}
