// SPDX-License-Identifier: MIT
import Answers
import ClusterProtocol
import JSON
import Sources

/// The data that a query reads. They are fixed when its params are read, so that what was determined about the
/// answer beforehand holds for the answer itself.
struct QueryTarget: Sendable {
    let source: Source
    let revision: Revision
    let filter: QueryFilter?
    /// What the answer is made of instead, under the revision's number; nil if the revision has all that it needs.
    var unread: UnreadTarget?

    /// An answer made from this revision. It is written on the pool if features may have to be read from disk,
    /// and discarded if the features' text turns out to be damaged while it is written.
    ///
    /// - Parameters:
    ///   - isQuick: whether it is short.
    ///   - isAtHand: whether the features of the answer can be read without waiting, if that is not true of all features.
    ///   - write: writes the answer from a revision.
    func answer(
        isQuick: Bool, isAtHand: () -> Bool = { false },
        _ write: @escaping @Sendable (Revision, CallContext, inout ByteWriter) throws(SourceError) -> Void
    ) -> PreparedAnswer {
        PreparedAnswer(
            isQuick: isQuick && unread == nil && (revision.isAtHand || isAtHand()),
            version: DataVersion(current: source.current, revision: revision.number)
        ) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                if let unread { return try unread.write(revision.number, call, into: &bytes, write) }
                try write(revision, call, &bytes)
                try source.checkIntact(revision)
            }
        }
    }
}

/// The snapshot that a query reads while a start is still reading it.
struct UnreadTarget: Sendable {
    let snapshot: UnreadSnapshot
    let name: SourceName
    let registry: SourceRegistry

    /// Answers of more nodes wait until all has been read: each node may need several pieces, and they are read one after the other.
    static let mostNodes = 4096

    /// Writes an answer from the snapshot. If that cannot be read in pieces, waits until all of it has been read. Blocks: only for
    /// threads of the pool.
    ///
    /// - Parameter number: of the revision that the answer must be of.
    func write(
        _ number: UInt64, _ call: CallContext, into bytes: inout ByteWriter,
        _ body: (Revision, CallContext, inout ByteWriter) throws(SourceError) -> Void
    ) throws(SourceError) {
        let start = bytes.count
        if let revision = snapshot.revision() {
            do throws(SourceError) {
                try body(revision, call, &bytes)
                if !revision.isDamaged { return }
            } catch {
                // What was made of damaged data may be any error.
                guard revision.isDamaged else { throw error }
            }
            bytes.truncate(to: start)
        }
        let source = try registry.wholeSource(name, call.cancellation)
        let revision = try source.intactRevision()
        guard revision.number == number else {
            throw .unavailable(name, "the data were replaced meanwhile; try again")
        }
        try body(revision, call, &bytes)
        try source.checkIntact(revision)
    }
}

/// Answers short enough to be written on the loop's thread.
enum ShortListing {
    /// The maximum number of features.
    static let features = 2000
}
