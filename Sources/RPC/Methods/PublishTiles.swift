// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import Clustering
import Glibc
import JSON
import SourceEngine
import Synchronization
import SystemSupport

/// `PublishTiles`: writes all tiles of a source to a PMTiles archive.
struct PublishTiles: ServerStreamMethod {
    let declaration = MethodDeclaration.publishTiles
    let catalog: SourceCatalog

    func begin(_ params: Params, _ call: CallContext, _ output: StreamOutput) throws(RPCError) -> any ServerStream {
        let target = try catalog.target(params)
        let settings = catalog.settings.values
        var request = try Self.request(params, target, catalog)
        request.part = try catalog.seenPart(params, of: target.source).flatMap(\.digest)
        let overwrite = try params.flag(.overwrite)
        let isEstimate = try params.flag(.estimate)
        let path = isEstimate ? "" : try params.string(.archivePath)
        let directories = settings.exportDirectories
        // On the pool: directories may be on a disk that does not respond.
        let job = PublishTilesJob(
            target: target, request: request, isEstimate: isEstimate, threads: settings.limits.buildThreads, call: call
        ) { [access = params.access] () throws(ArchiveError) in
            try directories.target(path, overwrite: overwrite) { access?.seesArchive($0) ?? true }
        }
        return PublishTilesStream(job, call, output)
    }

    private enum Compression: String { case gzip, none }

    private static func request(
        _ params: Params, _ target: QueryTarget, _ catalog: SourceCatalog
    ) throws(RPCError) -> ArchiveRequest {
        let options = target.revision.options.clustering
        let first = try params.optionalInteger(.minZoom) ?? Int64(options.minimumZoom)
        let last = try params.optionalInteger(.maxZoom) ?? Int64(options.maximumZoom + 1)
        guard first <= last else {
            throw params.invalid(.maxZoom, "must not be below minZoom, which is \(first).")
        }
        _ = try params.optionalStrings(.archiveInclude)
        return ArchiveRequest(
            zooms: Int(first)...Int(last), layer: target.name, output: try catalog.output(params),
            isCompressed: try params.word(.compression, as: Compression.self) == .gzip,
            name: try params.optionalString(.archiveName),
            description: try params.optionalString(.archiveDescription),
            attribution: try params.optionalString(.attribution),
            generator: "clusterd \(Release.version)")
    }
}

/// Writes one archive, or estimates its size, on the pool.
private final class PublishTilesJob: Sendable {
    private let target: QueryTarget
    private let request: ArchiveRequest
    private let isEstimate: Bool
    private let open: @Sendable () throws(ArchiveError) -> ArchiveTarget
    private let threads: Int
    private let call: CallContext
    private let state = Mutex(State())

    struct State: Sendable {
        var progress: ArchiveProgress?
        var outcome: Result<Outcome, RPCError>?
    }

    enum Outcome: Sendable {
        case archive(ArchiveSummary, path: String)
        case estimate([ZoomEstimate])
    }

    init(
        target: QueryTarget, request: ArchiveRequest, isEstimate: Bool, threads: Int, call: CallContext,
        open: @escaping @Sendable () throws(ArchiveError) -> ArchiveTarget
    ) {
        self.target = target
        self.request = request
        self.isEstimate = isEstimate
        self.open = open
        self.threads = threads
        self.call = call
    }

    var current: State { state.withLock { $0 } }

    var revision: Revision { target.revision }

    func run() {
        let outcome: Result<Outcome, RPCError>
        do throws(RPCError) { outcome = .success(try make()) } catch { outcome = .failure(error) }
        state.withLock { $0.outcome = outcome }
    }

    private func make() throws(RPCError) -> Outcome {
        let publication = TilePublication(
            of: target.revision, target.filter, request, threads: threads, call.cancellation)
        do throws(ArchiveError) {
            if isEstimate { return .estimate(try publication.estimate()) }
        } catch { throw try explained(error) }
        let file: ArchiveTarget
        do throws(ArchiveError) { file = try open() } catch { throw RPCError(error, call) }
        do throws(ArchiveError) {
            let summary = try publication.write(to: file) { progress in
                state.withLock { $0.progress = progress }
            }
            return .archive(summary, path: file.path)
        } catch { throw try explained(error) }
    }

    /// The status of an error of the archive. Throws if the data that were read are the cause.
    private func explained(_ error: ArchiveError) throws(RPCError) -> RPCError {
        try answering(call) { () throws(SourceError) in try target.source.checkIntact(target.revision) }
        return RPCError(error, call)
    }
}

/// Reports the progress of an archive, and its outcome. Belongs to the loop's thread.
private final class PublishTilesStream: ServerStream {
    private let job: PublishTilesJob
    private let output: StreamOutput
    private var hasBegun = false
    private var reported: ArchiveProgress?

    /// Nanoseconds between two reports.
    private static let pause: UInt64 = 250_000_000

    init(_ job: PublishTilesJob, _ call: CallContext, _ output: StreamOutput) {
        self.job = job
        self.output = output
        output.wantToSend()
    }

    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep {
        if !hasBegun {
            hasBegun = true
            let job = job
            output.runOnPool(repeatable: false) { _ in
                job.run()
            } completion: { [output] in
                output.wantToSend()
            }
            output.wantToSend(after: Self.pause)
            return .nothing
        }
        let state = job.current
        let news = state.progress == reported ? nil : state.progress
        if let outcome = state.outcome {
            let result = try outcome.get()
            guard let news else {
                switch result {
                case .archive(let summary, let path): write(summary, path, into: &bytes)
                case .estimate(let zooms): write(zooms, into: &bytes)
                }
                return .end
            }
            // The last report says that all tiles are written, even if the archive took no longer than one interval.
            output.wantToSend()
            write(news, into: &bytes)
            return .item(revision: nil)
        }
        output.wantToSend(after: Self.pause)
        guard let news else { return .nothing }
        write(news, into: &bytes)
        return .item(revision: nil)
    }

    private func write(_ progress: ArchiveProgress, into bytes: inout ByteWriter) {
        reported = progress
        bytes.append("{\"tiles\":")
        bytes.append(integer: progress.tiles)
        bytes.append(",\"ofTiles\":")
        bytes.append(integer: progress.ofTiles)
        bytes.append(",\"bytes\":")
        bytes.append(integer: progress.bytes)
        bytes.append("}")
    }

    private func write(_ zooms: [ZoomEstimate], into bytes: inout ByteWriter) {
        bytes.append("{\"tiles\":")
        bytes.append(integer: zooms.reduce(0) { $0 + $1.tiles })
        bytes.append(",\"bytes\":")
        bytes.append(integer: zooms.reduce(0) { $0 + $1.bytes })
        bytes.append(",\"zooms\":")
        let rows = zooms.map { zoom -> JSONValue in
            [
                "zoom": .number(Double(zoom.zoom)), "tiles": .number(Double(zoom.tiles)),
                "bytes": .number(Double(zoom.bytes)),
            ]
        }
        bytes.append(.array(rows))
        job.revision.endAnswer(&bytes)
    }

    private func write(_ summary: ArchiveSummary, _ path: String, into bytes: inout ByteWriter) {
        bytes.append("{\"path\":")
        bytes.append(json: path)
        bytes.append(",\"tiles\":")
        bytes.append(integer: summary.tiles)
        bytes.append(",\"bytes\":")
        bytes.append(integer: summary.bytes)
        bytes.append(",\"minZoom\":")
        bytes.append(integer: summary.zooms.lowerBound)
        bytes.append(",\"maxZoom\":")
        bytes.append(integer: summary.zooms.upperBound)
        bytes.append(",\"bounds\":")
        if let box = summary.bounds {
            bytes.append(.array(box.edges.map(JSONValue.number)))
        } else {
            bytes.append("null")
        }
        job.revision.endAnswer(&bytes)
    }
}

extension RPCError {
    /// The status that explains why an archive was not written.
    init(_ error: ArchiveError, _ call: CallContext) {
        switch error {
        case .fileExists(let name):
            self.init(
                .alreadyExists,
                "A file \"\(name)\" exists. Set params.overwrite to replace it, or choose another path.")
        case .isHidden(let name):
            self.init(
                .permissionDenied,
                "The path \"\(name)\" is taken by what you may not see (access.rules). Choose another.")
        case .forbidden(let directories):
            self.init(
                .permissionDenied,
                "The path is not below a directory that archives may be written to (--export-dir): "
                    + (directories.isEmpty ? "there is none." : directories.joined(separator: ", ") + "."))
        case .missingDirectory(let path):
            self.init(.notFound, "The directory of \"\(path)\" does not exist.")
        case .isDirectory(let name):
            self.init(.invalidArgument, "params.path: \"\(name)\" is a directory.")
        case .noSpace:
            self.init(
                .resourceExhausted,
                "The disk is full, or a quota is used up. Nothing was written. Make room and try again.")
        case .system(let failure):
            let reason = failure.description
            self.init(
                .failedPrecondition, reason.prefix(1).uppercased() + reason.dropFirst() + ". Nothing was written.")
        case .outOfMemory: self.init(.resourceExhausted, "Memory ran out. Nothing was written.")
        case .tooManyTiles:
            self.init(
                .outOfRange,
                "The archive would have more tiles than its format can list. Choose a smaller maxZoom.")
        case .cancelled:
            self = call.isPastDeadline ? CallContext.deadlineError : CallContext.cancelledError
        case .source(let error): self.init(error, call)
        }
    }
}
