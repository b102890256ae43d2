// SPDX-License-Identifier: MIT
import Responses
import ClusterProtocol
import JSON
import SourceEngine

/// `WatchClusters`: streams the changes of a viewport as they happen.
struct WatchClusters: ServerStreamMethod {
    let declaration = MethodDeclaration.watchClusters
    let catalog: SourceCatalog
    var writesProtobuf: Bool { true }
    private let budget: WatchBudget

    init(catalog: SourceCatalog) {
        self.catalog = catalog
        budget = WatchBudget(settings: catalog.settings)
    }

    func begin(_ params: Params, _ call: CallContext, _ output: StreamOutput) throws(RPCError) -> any ServerStream {
        var watch = try WatchRequest(params, catalog)
        watch.query.output.form = call.form.features
        return WatchStream(watch, call, output, budget)
    }
}

/// The params of a watching call.
struct WatchRequest {
    let source: Source
    private let name: SourceReference
    var query: ClustersQuery
    let filter: QueryFilter?
    /// The only revision whose data the caller accepts; nil: any.
    let revision: UInt64?
    /// The maximum number of changes per second.
    let rate: Double
    /// Whether the caller may see no single feature.
    let hidesPoints: Bool
    /// Whether markers are identified by the feature from which they grew.
    let hasTransitions: Bool

    init(_ params: Params, _ catalog: SourceCatalog) throws(RPCError) {
        query = try catalog.clustersQuery(params)
        rate = try params.number(.maxRateHz)
        hasTransitions = try params.flag(.transitions)
        source = try catalog.source(params)
        name = try catalog.reference(params)
        let current = try catalog.revision(params, of: source).number
        revision = params[.revision] == nil ? nil : current
        filter = try catalog.filter(params, of: source)
        hidesPoints = try catalog.seenPart(params, of: source)?.hidesPoints ?? false
    }

    /// The current data of the source or the view. Throws if there is no such view any more.
    func currentRevision() throws(SourceError) -> Revision { try source.revision.read(by: name) }

    /// Reads an item from the client: the viewport's new position, and its window and pinned features if they change.
    mutating func move(_ item: [UInt8]) throws(RPCError) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(item) } catch {
            throw .invalidParam("item", "is not JSON: \(error.message)")
        }
        guard case .object(let object) = value else { throw .invalidParam("item", "must be an object.") }
        let params = Params(object, path: "item", text: item)
        try params.rejectUnknown(MethodDeclaration.watchClusters.items.map(\.name))
        let (box, zoom) = (try params.box(.bbox), try params.number(.zoom))
        var restriction = query.output.restriction ?? ViewRestriction()
        // Null removes them.
        if let window = params[.window] { restriction.window = window == .null ? nil : try params.window() }
        if let pins = params[.pin] { restriction.pins = pins == .null ? [] : try params.pins() }
        if hidesPoints, !restriction.pins.isEmpty { throw SeenPart.denied("item.pin") }
        if let window = restriction.window {
            do throws(SourceError) {
                try currentRevision().checkIndexed(window.property, path: "window")
            } catch {
                guard case .invalidParameter(let member, let message) = error else { throw RPCError(error) }
                throw .invalidParam("item.\(member)", message + ".")
            }
        }
        (query.box, query.zoom) = (box, zoom)
        query.output.restriction = restriction.isNone ? nil : restriction
    }
}

/// A watched viewport: sends the smallest change whenever the viewport moves or the data change. Belongs to the
/// loop's thread.
///
/// One change is computed at a time, when it can be sent, from the viewport and data of that moment, so states
/// that are already superseded are never computed.
final class WatchStream: ServerStream {
    private var watch: WatchRequest
    private let call: CallContext
    private let output: StreamOutput
    private var pace: Pace
    private var observation: SourceObservation?
    private let hasNews = Signal()
    /// What the client has.
    private var shown: ShownMarkers
    private let budget: WatchBudget
    private var shownRevision: UInt64?
    private var hasMoved = true
    private var work = Work.none
    /// The client will move no more. The change for the last move is still sent if the pace allows it now.
    private var isEnding = false

    private enum Work {
        case none
        case underWay
        case done(WatchJob, at: UInt64)
    }

    /// A change that has waited longer than this for its client, in nanoseconds, is recomputed if it has been
    /// superseded.
    private static let patience: UInt64 = 50_000_000

    init(_ watch: WatchRequest, _ call: CallContext, _ output: StreamOutput, _ budget: WatchBudget) {
        self.watch = watch
        self.budget = budget
        shown = ShownMarkers(hasTransitions: watch.hasTransitions)
        pace = Pace(rate: watch.rate)
        self.call = call
        self.output = output
        observation = watch.source.observe { [hasNews, current = watch.source.current] in
            // One request suffices until the data are read, but the end of the source must not wait for the pace.
            if hasNews.raise() || current.isNone { output.wantToSend() }
        }
        output.wantToSend()
    }

    func receive(_ item: [UInt8]) throws(RPCError) {
        try watch.move(item)
        hasMoved = true
        output.wantToSend()
    }

    func clientEnded() {
        isEnding = true
        output.wantToSend()
    }

    func ended() {
        work = .none
        observation = nil
        budget.giveBack(shown.count, of: call.share)
        replaceShown(by: ShownMarkers(hasTransitions: false))
    }

    func next(into bytes: inout ByteWriter) throws(RPCError) -> StreamStep {
        switch work {
        case .underWay: return .nothing
        case .done(let job, let moment):
            work = .none
            if MonotonicClock.now() - moment < Self.patience || !isOvertaken(job) {
                return try deliver(job, into: &bytes)
            }
            hasMoved = true
        case .none: break
        }
        guard !watch.source.isRetired else { throw RPCError(.sourceNotFound(watch.source.name)) }
        let now = MonotonicClock.now()
        let delay = pace.delay(at: now)
        if isEnding, !hasMoved || delay > 0 {
            // A message has no fields at the end.
            if call.form.features == .json { bytes.append("{}") }
            return .end
        }
        guard delay == 0 else {
            // The flag stays raised until then, so that new data cause no further requests.
            output.wantToSend(after: delay)
            return .nothing
        }
        hasNews.lower()
        let revision = try answering { () throws(SourceError) -> Revision in
            try watch.source.checkIntact()
            let revision = try watch.currentRevision()
            try revision.check(asked: watch.revision)
            return revision
        }
        guard hasMoved || revision.number != shownRevision else { return .nothing }
        pace.sent(at: now)
        return try show(revision, into: &bytes)
    }

    /// The change is made again, from the viewport and data of then.
    private func tooLarge(_ limit: Int) -> StreamStep {
        hasMoved = true
        return .tooLarge(limit)
    }

    private func adopt(_ job: WatchJob) throws(RPCError) {
        try budget.change(from: shown.count, to: job.shown.count, of: call.share)
        replaceShown(by: job.shown)
    }

    /// Replaces what the client has. It may hold the last reference to its data.
    private func replaceShown(by next: ShownMarkers) {
        if shown.hasTransitions { output.free(shown) }
        shown = next
    }

    private func isOvertaken(_ job: WatchJob) -> Bool {
        hasMoved || job.revision != watch.source.revision.number
    }

    /// Computes the change to what a revision shows: here if that is quick, otherwise on the pool.
    private func show(_ revision: Revision, into bytes: inout ByteWriter) throws(RPCError) -> StreamStep {
        hasMoved = false
        shownRevision = revision.number
        let job = WatchJob(watch.source, revision, watch.filter, watch.query, from: shown)
        if job.isQuick {
            let (start, most) = (bytes.count, bytes.room)
            do throws(RPCError) { try job.run(call, into: &bytes) } catch {
                guard bytes.hasOverflowed else { throw error }
            }
            if bytes.hasOverflowed || bytes.count - start > most { return tooLarge(most) }
            try adopt(job)
            if isEnding { output.wantToSend() }
            return .item(revision: job.revision)
        }
        work = .underWay
        output.runOnPool(repeatable: true) { [call] mostBytes in
            job.run(call, mostBytes: mostBytes)
        } completion: { [weak self] in
            guard let self, case .underWay = self.work else { return }
            self.work = .done(job, at: MonotonicClock.now())
            self.output.hold(bytes: job.bytes.count)
            self.output.wantToSend()
        }
        return .nothing
    }

    private func deliver(_ job: WatchJob, into bytes: inout ByteWriter) throws(RPCError) -> StreamStep {
        if let limit = job.exceeded { return tooLarge(limit) }
        if let error = job.error { throw error }
        try adopt(job)
        bytes.append(contentsOf: job.bytes)
        // Changes since then are sent with the next item.
        output.wantToSend()
        return .item(revision: job.revision)
    }
}
