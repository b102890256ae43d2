// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses
import SourceEngine
import SystemSupport

/// An answer in pages. Belongs to the loop's thread. Pages are written on the pool, one at a time, and each
/// only after the transport has accepted the previous one.
final class PageStream: ServerStream {
    private let job: PageJob
    private let output: StreamOutput
    private var work = Work.none

    private enum Work { case none, underWay, done }

    init(_ job: PageJob, _ output: StreamOutput) {
        (self.job, self.output) = (job, output)
        output.wantToSend()
    }

    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep {
        switch work {
        case .underWay: return .nothing
        case .none:
            if job.isAtEnd {
                job.writeEnd(into: &bytes)
                return .end
            }
            work = .underWay
            output.runOnPool(repeatable: false) { [job] mostBytes in
                job.run(mostBytes: mostBytes)
            } completion: { [weak self, job, output] in
                self?.work = .done
                output.hold(bytes: job.pageBytes)
                output.wantToSend()
            }
            return .nothing
        case .done:
            work = .none
            if let error = job.error { throw error }
            job.takePage(into: &bytes)
            output.wantToSend()
            return .item(revision: job.target.revision.number)
        }
    }
}

/// Writes the pages of one call.
///
/// Created on the loop's thread, run on a pool thread, then read on the loop's thread. The hand-over between the
/// threads orders these accesses, so the class may be `Sendable` although the compiler cannot check it.
final class PageJob: @unchecked Sendable {
    let target: QueryTarget
    private let call: CallContext
    /// Begins the answer. Called on a thread of the pool, since it may read all of its data.
    private let begin: @Sendable (QueryTarget, CallContext) throws(SourceError) -> any AnswerPages
    private var pages: (any AnswerPages)?
    private var page = ByteWriter(capacity: 64)
    private(set) var error: RPCError?

    init(
        _ target: QueryTarget, _ call: CallContext,
        _ begin: @escaping @Sendable (QueryTarget, CallContext) throws(SourceError) -> any AnswerPages
    ) {
        (self.target, self.call, self.begin) = (target, call, begin)
    }

    /// The size of the page that waits.
    var pageBytes: Int { page.count }

    var isAtEnd: Bool { pages?.isAtEnd ?? false }

    func run(mostBytes: Int) {
        page = ByteWriter(capacity: FeaturePages.pageBytes + 4096)
        page.limitFollowing(to: mostBytes)
        do throws(RPCError) {
            try answering(call) { () throws(SourceError) in
                if pages == nil { pages = try begin(target, call) }
                try pages?.writePage(into: &page, call.cancellation)
                // The page just written may contain text that turned out to be damaged.
                try target.source.checkIntact(target.revision)
            }
            if page.hasOverflowed { throw .tooLarge(mostBytes + mostEnvelope) }
        } catch { self.error = error }
        page.liftLimit()
    }

    func takePage(into bytes: inout ByteWriter) {
        bytes.append(contentsOf: page)
        page = ByteWriter(capacity: 64)
    }

    func writeEnd(into bytes: inout ByteWriter) {
        pages?.writeEnd(into: &bytes)
    }
}

extension PreparedAnswer {
    /// An answer of any length, in pages.
    init(_ job: PageJob) {
        self.init(revision: job.target.revision.number) { PageStream(job, $0) }
    }
}

extension QueryTarget {
    /// An answer in columns.
    ///
    /// - Parameters:
    ///   - zoom: that of the view.
    ///   - make: finds the rows in the view.
    func columns(
        _ call: CallContext, zoom: Double?,
        _ make: @escaping @Sendable (Revision, View, Cancellation) throws(SourceError) -> any AnswerPages
    ) -> PreparedAnswer {
        PreparedAnswer(
            PageJob(self, call) { (target, call) throws(SourceError) in
                let view = try target.view(nil, zoom: zoom, call)
                return try make(target.revision, view, call.cancellation)
            })
    }
}
