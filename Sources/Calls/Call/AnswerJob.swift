// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// An answer being made. One thread writes it and another reads it after the loop's hand-over, which orders the two,
/// so it may be shared.
final class AnswerJob: @unchecked Sendable {
    let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
    private(set) var error: RPCError?
    private let builder: AnswerBuilder
    private let facts: AnswerFacts
    private let context: CallContext

    init(_ builder: AnswerBuilder, _ facts: AnswerFacts, _ context: CallContext) {
        self.builder = builder
        self.facts = facts
        self.context = context
    }

    func run(_ write: (CallContext, inout ByteWriter) throws(RPCError) -> Void) {
        do throws(RPCError) {
            try builder.make(.result, facts, into: &bytes.writer) { (bytes) throws(RPCError) in
                try context.check()
                try write(context, &bytes)
            }
        } catch { self.error = error }
    }
}
