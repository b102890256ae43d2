// SPDX-License-Identifier: MIT
import Answers
import JSON
import Sources

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
