// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine

/// `GetFeatures`: streams all features of one revision, or those that pass a filter, in pages.
struct GetFeatures: ServerStreamMethod {
    let declaration = MethodDeclaration.getFeatures
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }

    func begin(_ params: Params, _ call: CallContext, _ output: StreamOutput) throws(RPCError) -> any ServerStream {
        let target = try catalog.target(params)
        var format = try catalog.output(params)
        format.form = call.form.features
        let pages = FeaturePageJob(target, format, call)
        return FeatureStream(pages, output)
    }
}

/// The stream of one call. Belongs to the loop's thread. Pages are written on the pool, one at a time, and each
/// only after the transport has accepted the previous one.
private final class FeatureStream: ServerStream {
    private let job: FeaturePageJob
    private let output: StreamOutput
    private var work = Work.none

    private enum Work { case none, underWay, done }

    init(_ job: FeaturePageJob, _ output: StreamOutput) {
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
private final class FeaturePageJob: @unchecked Sendable {
    let target: QueryTarget
    private let format: FeatureOutput
    private let call: CallContext
    private var pages: FeaturePages?
    private var page = ByteWriter(capacity: 64)
    private(set) var error: RPCError?

    init(_ target: QueryTarget, _ format: FeatureOutput, _ call: CallContext) {
        (self.target, self.format, self.call) = (target, format, call)
    }

    /// The size of the page that waits.
    var pageBytes: Int { page.count }

    var isAtEnd: Bool { pages?.isAtEnd ?? false }

    func run(mostBytes: Int) {
        page = ByteWriter(capacity: FeaturePages.pageBytes + 4096)
        page.limitFollowing(to: mostBytes)
        do throws(RPCError) {
            try answering(call) { () throws(SourceError) in
                if pages == nil {
                    pages = try FeaturePages(target.revision, filter: target.filter, output: format, call.cancellation)
                }
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
