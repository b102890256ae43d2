// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import SystemSupport
import JSON

/// The data that a query reads: fixed when its params are read, so that what is known of the answer beforehand holds
/// for the answer too.
struct QueryTarget: Sendable {
    let source: Source
    let revision: Revision
    let filter: QueryFilter?

    /// An answer made from this revision; on the pool if features may have to be read from a disk. It is dropped if the text of features turned out to be damaged while it was
    /// made.
    func answer(
        isQuick: Bool, mediaType: String = AnswerFacts.json,
        _ write: @escaping @Sendable (CallContext, inout ByteWriter) throws(SourceError) -> Void
    ) -> PreparedAnswer {
        PreparedAnswer(
            isQuick: isQuick && revision.isAtHand,
            facts: AnswerFacts(mediaType: mediaType, revision: revision.number),
            version: DataVersion(current: source.current, revision: revision.number)
        ) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                try write(call, &bytes)
                try source.checkIntact(revision)
            }
        }
    }
}
