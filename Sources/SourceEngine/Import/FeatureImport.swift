// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import Synchronization
import SystemSupport

/// An import of features into a source: gathered piece by piece, then made visible all at once or not at all.
///
/// Several imports of one source may run at the same time. Each becomes visible when it finishes, one after another,
/// and an import that appends does so to the data of that moment. Safe from any thread, but pieces keep their order
/// only if the calls are ordered.
public final class FeatureImport: Sendable {
    private let source: Source
    private let mode: ImportMode
    private let policy: InvalidFeaturePolicy
    private let rules: FeatureRules
    private let format: FeatureFormat
    private let allowsEmpty: Bool
    private let claim: MemoryClaim
    /// Why the budget refused more.
    private let refusal: Refusal
    /// Pieces that are being read at the same time.
    private let pieces = ImportPieces()
    /// Nil once finished or cancelled.
    private let work: Mutex<Work?>

    /// The gathered features, and the reader of pushed bytes once there have been some.
    private struct Work: ~Copyable, Sendable {
        var builder: FeatureStoreBuilder
        var reader: PushReader?
    }

    /// The moment of insertion; nil for the moment when the import finishes.
    private let moment: Timestamp?

    /// - Parameters:
    ///   - format: what is known about the format of pushed bytes or of a file.
    ///   - wrapsLongitudes: whether longitudes beyond ±180 are wrapped around.
    ///   - allowsEmpty: whether an import without valid features may replace data.
    ///   - moment: of insertion; nil for the moment when the import finishes.
    public init(
        into source: Source, mode: ImportMode, policy: InvalidFeaturePolicy,
        format: FeatureFormat = FeatureFormat(), wrapsLongitudes: Bool = false, allowsEmpty: Bool = false,
        at moment: Timestamp? = nil
    ) {
        self.moment = moment
        self.format = format
        self.allowsEmpty = allowsEmpty
        self.source = source
        self.mode = mode
        self.policy = policy
        var rules = source.revision.options.featureRules
        rules.wrapsLongitudes = wrapsLongitudes
        self.rules = rules
        let claim = source.shared.memory.claim(for: source.owner)
        let refusal = Refusal()
        (self.claim, self.refusal) = (claim, refusal)
        var builder = FeatureStoreBuilder(policy: policy, rules: rules)
        let drafts = DraftMaker(source.files, source.shared)
        builder.spill = drafts?.spill
        builder.admits = { bytes in
            refusal.admits { () throws(SourceError) in
                try claim.grow(to: bytes, file: drafts?.bytes ?? 0)
                if let failure = drafts?.failure { throw SourceError(failure) }
            }
        }
        work = Mutex(Work(builder: builder))
    }

    /// Adds the features of a JSON array.
    public func add(features json: [UInt8]) throws(SourceError) {
        try withWork { (work) throws(GeoJSONError) in try work.builder.append(features: json) }
    }

    /// Adds a piece of a text of features in any format of `FeatureReader`, plain or gzipped.
    ///
    /// - Parameter threads: the most threads to use.
    public func push(_ bytes: [UInt8], threads: Int) throws(SourceError) {
        try withWork { (work) throws(GeoJSONError) in
            let reader = work.reader ?? PushReader(FeatureReader(format, threads: threads))
            work.reader = reader
            try reader.reader.push(bytes.span, into: &work.builder)
        }
    }

    /// Adds the features of a text that is complete in itself, in any format of `FeatureReader`.
    ///
    /// - Parameter threads: the most threads to use.
    public func add(text: [UInt8], threads: Int) throws(SourceError) {
        try withWork { (work) throws(GeoJSONError) in
            let reader = PushReader(FeatureReader(format, threads: threads))
            try reader.reader.push(text.span, into: &work.builder)
            try reader.reader.finish(into: &work.builder)
        }
    }

    /// Adds a piece of features. Several threads may read pieces at the same time;
    /// the features are ordered by the pieces' numbers.
    ///
    /// - Parameters:
    ///   - number: from 0, each number once. A piece stays in memory until all earlier ones have been added.
    ///   - read: fills the piece.
    /// - Complexity: that of `read`, and one copy of the features' bytes.
    public func take<Value>(piece number: Int, _ read: (PieceParser) -> Value) throws(SourceError) -> Value {
        let fresh = pieces.take { work.withLock { $0?.builder.makeParser() } }
        guard let fresh else { throw .cancelled }
        let value = read(fresh)
        pieces.park(fresh, number)
        while let piece = pieces.beginAdmission() {
            defer {
                pieces.endAdmission()
                pieces.giveBack(piece)
            }
            try withWork { (work) throws(GeoJSONError) in try work.builder.admit(piece) }
        }
        return value
    }

    /// The number of pieces added, in the order of their numbers.
    public var takenPieces: Int { pieces.admitted }

    /// Works on the gathered features, which are dropped if that fails.
    private func withWork(_ body: (inout Work) throws(GeoJSONError) -> Void) throws(SourceError) {
        let failure = work.withLock { work -> SourceError? in
            guard var current = work.take() else { return refusal.error ?? .cancelled }
            do throws(GeoJSONError) {
                try body(&current)
                work = consume current
                return nil
            } catch {
                return refusal.error ?? SourceError(error)
            }
        }
        if let failure { throw failure }
    }

    /// Clusters the gathered features and publishes them. Blocks: only for threads of the pool.
    ///
    /// - Parameter log: the log that the features follow from now on; nil if they are not the copy of a table. A copy
    ///   that replaces data is published before it is stored: `Source.keepMark` stores it.
    public func finish(
        _ cancellation: Cancellation, following log: FollowedLog? = nil
    ) throws(SourceError) -> ImportOutcome {
        let moment = moment ?? .now
        try withWork { (work) throws(GeoJSONError) in
            try work.reader?.reader.finish(into: &work.builder)
            work.reader = nil
        }
        guard let gathered = take(moment) else { throw .cancelled }
        try gathered.store.checkWritten()
        try checkContent(gathered)
        var (badWeights, warnings) = (0, [String]())
        let revision = try source.change(cancellation) { (base) throws(SourceError) -> Source.Change in
            guard base.options.promoteId == rules.promoteId else {
                throw .conflict("the source's option promoteId changed during the import; import again")
            }
            guard base.options.geometries == rules.geometries else {
                throw .conflict("the source's option geometries changed during the import; import again")
            }
            let maker = RevisionMaker(
                options: base.options, shared: source.shared, owner: source.owner, cancellation: cancellation)
            let batch = try maker.screen(gathered.store, policy: policy, groups: gathered.groups)
            badWeights = batch.badWeights
            warnings = ImportWarnings.of(
                gathered.advice, base.options, store: gathered.store, accepted: gathered.accepted, loaded: batch.count)
            let isRecord =
                mode == .append && base.hasData
                && gathered.store.memoryBytes + gathered.store.fileBytes < Self.largestRecord
            // The text of both stores is copied into a new one.
            let joined = source.shared.memory.claim(for: nil, .uncounted)
            if mode == .append { try joined.grow(to: base.store.memoryBytes) }
            defer { withExtendedLifetime(joined) {} }
            let revision = try maker.make(
                batch.store(after: mode == .append ? base.store : nil, spill: source.spill), counted: gathered.store,
                known: batch.columns)
            warnings += ImportWarnings.views(of: revision)
            return Source.Change(
                revision: revision,
                keeping: log != nil ? .later : isRecord ? .record(.append(batch.slices)) : .snapshot,
                replacesData: mode == .replace, moment: moment, log: log.map { .at($0) } ?? .none)
        }
        var reasons = gathered.skippedReasons
        if badWeights > 0 { reasons[FeatureBatch.badWeight, default: 0] += badWeights }
        return ImportOutcome(
            description: source.description(of: revision), accepted: gathered.accepted - badWeights,
            skippedReasons: reasons, warnings: warnings)
    }

    /// Larger appends are stored by a new snapshot, which takes less time to write than the record to replay.
    private static let largestRecord = 1 << 20

    /// Drops the gathered features.
    public func cancel() {
        work.withLock { $0 = nil }
    }

    /// Throws if the import would replace data with nothing because no feature was valid or the text was empty.
    private func checkContent(_ gathered: GatheredFeatures) throws(SourceError) {
        let skipped = gathered.skippedReasons.values.reduce(0, +)
        guard !allowsEmpty, mode == .replace, gathered.accepted == 0, source.revision.pointCount > 0
        else { return }
        if gathered.advice.isOfBlankText {
            throw .emptyImport(
                "The text is empty or a header alone, and the import would replace the source's data with nothing.")
        }
        guard skipped > 0 else { return }
        let reasons = gathered.skippedReasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let first = gathered.firstSkipped.first.map { " \($0.message)" } ?? ""
        let advice = gathered.advice.warnings(rules).map { " Note: \($0)." }.joined()
        throw .emptyImport(
            "None of \(skipped) features is valid (\(reasons.joined(separator: ", "))), and the import would replace "
                + "the source's data with nothing.\(first)\(advice)")
    }
}

/// A reader between two calls. Only the one thread that has taken the import's work uses it, so it may be sent.
private final class PushReader: @unchecked Sendable {
    var reader: FeatureReader

    init(_ reader: consuming FeatureReader) { self.reader = reader }
}

/// Carries the budget's error past the reader, which does not know budgets.
private final class Refusal: Sendable {
    private let state = Mutex<SourceError?>(nil)

    var error: SourceError? { state.withLock { $0 } }

    func admits(_ claim: () throws(SourceError) -> Void) -> Bool {
        do throws(SourceError) {
            try claim()
            return true
        } catch {
            state.withLock { $0 = error }
            return false
        }
    }
}

/// The features that an import has gathered.
private struct GatheredFeatures {
    let store: FeatureStore
    let accepted: Int
    let skippedReasons: [String: Int]
    let firstSkipped: [InvalidFeature]
    let groups: RowGroups
    let advice: ImportAdvice
}

extension FeatureImport {
    private func take(_ moment: Timestamp) -> GatheredFeatures? {
        work.withLock { work -> GatheredFeatures? in
            guard let current = work.take() else { return nil }
            let (accepted, reasons, first) = (
                current.builder.accepted, current.builder.skippedReasons, current.builder.firstSkipped
            )
            let (groups, advice) = (current.builder.groups, current.builder.advice)
            return GatheredFeatures(
                store: current.builder.finish(moments: FeatureMoments(all: moment.milliseconds)),
                accepted: accepted, skippedReasons: reasons, firstSkipped: first, groups: groups, advice: advice)
        }
    }
}

extension FeatureImport {
    /// Adds all features of an open file, plain or gzipped. Blocks: only for threads of the pool.
    public func read(_ file: FileDescriptor, threads: Int, _ cancellation: Cancellation) throws(SourceError) {
        try withWork { (work) throws(GeoJSONError) in
            try FeatureFileReader.read(
                descriptor: file.number, format: format, into: &work.builder, threads: threads,
                isCancelled: { cancellation.isCancelled })
        }
    }
}

/// What happens to a source's features when others are imported.
public enum ImportMode: String, Sendable, CaseIterable {
    /// They are replaced.
    case replace
    /// They stay, and the new ones follow them.
    case append
}

/// Pieces of an import that several threads read at the same time. Each has a number, and they are admitted in the
/// order of their numbers.
final class ImportPieces: Sendable {
    private let state = Mutex(State())

    /// Invariant: a piece is used by the thread that took it from `idle`, or is parked until one thread takes it. That
    /// is why it may be sent.
    private struct State: @unchecked Sendable {
        var idle: [PieceParser] = []
        /// The number of the next piece to admit.
        var next = 0
        var parked: [Int: PieceParser] = [:]
        /// Whether a thread is admitting pieces.
        var isAdmitting = false
    }

    /// An empty piece.
    func take(or make: () -> PieceParser?) -> PieceParser? {
        state.withLock { $0.idle.popLast() } ?? make()
    }

    /// Parks a piece that has been read. The admitting thread, or else the caller, takes it when it is next.
    func park(_ piece: PieceParser, _ number: Int) { state.withLock { $0.parked[number] = piece } }

    /// The next piece; nil if it has not been read yet, or another thread is admitting.
    func beginAdmission() -> PieceParser? {
        state.withLock { state in
            guard !state.isAdmitting, let piece = state.parked.removeValue(forKey: state.next) else {
                return nil
            }
            state.isAdmitting = true
            state.next += 1
            return piece
        }
    }

    /// The number of pieces admitted or rejected.
    var admitted: Int { state.withLock { $0.next } }

    func endAdmission() { state.withLock { $0.isAdmitting = false } }

    /// Returns a piece for reuse.
    func giveBack(_ piece: PieceParser) {
        piece.removeAll()
        state.withLock { $0.idle.append(piece) }
    }
}
