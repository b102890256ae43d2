// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine

/// The data that a query reads. They are fixed when its params are read, so that what was determined about the
/// answer beforehand holds for the answer itself.
struct QueryTarget: Sendable {
    let source: Source
    let revision: Revision
    let filter: QueryFilter?

    /// The view that answers a query if it is cached, so that planning can look at it. Pass it on to `view`: a view is looked
    /// up once for a call.
    func readyView(zoom: Double?) -> View? { revision.readyView(filter, zoom: zoom) }

    /// The view that answers a query, built if it was not cached. Blocks: only for threads of the pool if it was not.
    func view(_ ready: View?, zoom: Double?, _ call: CallContext) throws(SourceError) -> View {
        if let ready { return ready }
        return try revision.view(filter, zoom: zoom, call.cancellation)
    }

    /// An answer made from this revision. It is written on the pool if features may have to be read from disk,
    /// and discarded if the features' text turns out to be damaged while it is written.
    ///
    /// - Parameters:
    ///   - isQuick: whether it is short.
    ///   - isResident: whether the features of the answer can be read without waiting, if that is not true of all features.
    ///   - write: writes the answer from a revision.
    func answer(
        isQuick: Bool, isResident: () -> Bool = { false },
        _ write: @escaping @Sendable (Revision, CallContext, inout ByteWriter) throws(SourceError) -> Void
    ) -> PreparedAnswer {
        PreparedAnswer(
            isQuick: isQuick && (revision.isResident || isResident()),
            revision: revision.number
        ) { (call, bytes) throws(RPCError) in
            try answering(call) { () throws(SourceError) in
                try write(revision, call, &bytes)
                try source.checkIntact(revision)
            }
        }
    }
}

/// Answers short enough to be written on the loop's thread.
enum ShortListing {
    /// The maximum number of features.
    static let features = 2000
}
