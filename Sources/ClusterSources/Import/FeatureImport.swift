// SPDX-License-Identifier: MIT
import GeoJSON
import Synchronization

/// Features on their way into a source: gathered piece by piece, then made visible at once or not at all.
///
/// Imports of one source may run side by side; each becomes visible as it finishes, one after another, and
/// one that appends does so to the data of that moment. Safe from any thread, but pieces keep their order
/// only where calls do.
public final class FeatureImport: Sendable {
    private let source: Source
    private let mode: ImportMode
    private let policy: InvalidFeaturePolicy
    private let promoteId: String?
    private let claim: MemoryClaim
    /// Why the budget refused more.
    private let refusal: Refusal
    /// Decodes what the source's options read, where that is of use. Only whoever has taken the builder may use it.
    private let collector: ColumnCollector?
    /// Nil once finished or given up.
    private let builder: Mutex<FeatureStoreBuilder?>

    /// When the features count as put in; nil: when the import is finished.
    private let moment: Timestamp?

    public convenience init(into source: Source, mode: ImportMode, policy: InvalidFeaturePolicy) {
        self.init(into: source, mode: mode, policy: policy, at: nil)
    }

    init(into source: Source, mode: ImportMode, policy: InvalidFeaturePolicy, at moment: Timestamp?) {
        self.moment = moment
        self.source = source
        self.mode = mode
        self.policy = policy
        promoteId = source.revision.options.promoteId
        let claim = source.shared.memory.claim(for: source.owner)
        let refusal = Refusal()
        (self.claim, self.refusal) = (claim, refusal)
        var builder = FeatureStoreBuilder(policy: policy, promoteId: promoteId)
        let names = source.revision.options.readNames
        if !names.isEmpty, mode == .replace || !source.revision.hasData {
            let collector = ColumnCollector(names)
            (builder.collector, self.collector) = (collector, collector)
        } else {
            collector = nil
        }
        builder.admits = { bytes in refusal.admits { () throws(SourceError) in try claim.grow(to: bytes) } }
        self.builder = Mutex(builder)
    }

    /// Takes features in: the text of a JSON array of them.
    public func add(features json: UnsafeRawBufferPointer) throws(SourceError) {
        let failure = builder.withLock { builder -> SourceError? in
            guard var current = builder.take() else { return .cancelled }
            do throws(GeoJSONError) {
                try current.append(features: json)
                builder = consume current
                return nil
            } catch {
                return refusal.error ?? SourceError(error)
            }
        }
        if let failure { throw failure }
    }

    /// Clusters what was gathered and swaps it in. Blocks: only for threads of the pool.
    public func finish(_ cancellation: Cancellation) throws(SourceError) -> ImportOutcome {
        let moment = moment ?? .now
        guard let gathered = take(moment) else { throw .cancelled }
        var badWeights = 0
        let revision = try source.change(cancellation) { (base) throws(SourceError) -> Source.Change in
            guard base.options.promoteId == promoteId else {
                throw .conflict("the source's option promoteId changed during the import; import again")
            }
            let maker = RevisionMaker(
                options: base.options, shared: source.shared, owner: source.owner, cancellation: cancellation)
            let batch = try maker.screen(gathered.store, policy: policy, known: gathered.columns)
            badWeights = batch.badWeights
            let isRecord =
                mode == .append && base.hasData && gathered.store.memoryBytes < Self.largestRecord
            return Source.Change(
                revision: try maker.make(
                    batch.store(after: mode == .append ? base.store : nil), counted: gathered.store,
                    known: gathered.columns),
                keeping: isRecord ? .record(.append(batch.slices)) : .snapshot, moment: moment)
        }
        var reasons = gathered.skippedReasons
        if badWeights > 0 { reasons[FeatureBatch.badWeight, default: 0] += badWeights }
        return ImportOutcome(
            description: source.description(of: revision), accepted: gathered.accepted - badWeights,
            skippedReasons: reasons)
    }

    /// What is larger is kept by a new snapshot: reading it again would take longer than that.
    private static let largestRecord = 1 << 20

    /// Forgets what was gathered.
    public func cancel() {
        builder.withLock { $0 = nil }
    }
}

/// The budget's own words, on their way past the reader, which knows no budgets.
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

/// What an import has gathered.
private struct GatheredFeatures {
    let store: FeatureStore
    /// Of properties that options read.
    let columns: SourceColumns?
    let accepted: Int
    let skippedReasons: [String: Int]
}

extension FeatureImport {
    private func take(_ moment: Timestamp) -> GatheredFeatures? {
        builder.withLock { builder -> GatheredFeatures? in
            guard let current = builder.take() else { return nil }
            let (accepted, reasons) = (current.accepted, current.skippedReasons)
            return GatheredFeatures(
                store: current.finish(moments: FeatureMoments(all: moment.milliseconds)),
                columns: collector?.finish(), accepted: accepted,
                skippedReasons: reasons)
        }
    }
}

extension FeatureImport {
    /// Takes in all features of an open file, plain or gzipped. Blocks: only for threads of the pool.
    public func read(
        _ file: FileDescriptor, threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) {
        let failure = builder.withLock { builder -> SourceError? in
            guard var current = builder.take() else { return .cancelled }
            do throws(GeoJSONError) {
                try FeatureFileReader.read(
                    descriptor: file.number, into: &current, threads: threads,
                    isCancelled: { cancellation.isCancelled })
                builder = consume current
                return nil
            } catch {
                return refusal.error ?? SourceError(error)
            }
        }
        if let failure { throw failure }
    }
}
