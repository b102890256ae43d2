// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

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
