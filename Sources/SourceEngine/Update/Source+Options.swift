// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import JSON
import SystemSupport

extension Source {
    /// Clusters the source again with other options. The old revision answers until that is done. As long as the
    /// features stay the same, only views are clustered whose options change; one of them is the source's own.
    ///
    /// Features that the new filter does not pass are removed for good. Those that the old filter left out do not
    /// come back. Blocks: only for threads of the pool.
    @discardableResult public func update(
        options: SourceOptions, at moment: Timestamp = .now, _ cancellation: Cancellation
    ) throws(SourceError) -> OptionsOutcome {
        var warnings = options.warnings
        let revision = try change(cancellation) { (base) throws(SourceError) -> Change in
            let keeping = Keeping.record(.options(options.json))
            guard base.hasData else {
                return Change(
                    revision: try .empty(options: options, shared: shared), keeping: keeping,
                    moment: moment, log: .same)
            }
            let maker = RevisionMaker(options: options, shared: shared, owner: owner, cancellation: cancellation)
            let (store, loaded) = try loaded(with: options, base, maker)
            warnings += ImportWarnings.of(
                ImportAdvice(), options, store: store, accepted: store.count, loaded: loaded.store.count)
            warnings += ImportWarnings.views(of: loaded)
            if options.geometries != base.options.geometries {
                warnings.append(ImportWarnings.keptPoints(base.store.count))
            }
            return Change(revision: loaded, keeping: keeping, moment: moment, log: .same)
        }
        // Without a snapshot the next start would have to cluster again.
        saveLater()
        return OptionsOutcome(description: description(of: revision), warnings: warnings)
    }

    /// - Returns: the features that the source had, read by the new rules, and the revision of those that it loads.
    private func loaded(
        with options: SourceOptions, _ base: Revision, _ maker: RevisionMaker
    ) throws(SourceError) -> (FeatureStore, Revision) {
        if let kept = try maker.keeping(base, viewCompletion) { return (base.store, kept) }
        let spill = spill
        let plain = base.store.plain(spill: spill)
        let isSame =
            options.promoteId == base.options.promoteId && options.projection == base.options.projection
        let store = isSame ? plain : try Self.read(plain, options.featureRules, maker.cancellation)
        let batch = try maker.screen(store, policy: .reject)
        return (store, try maker.make(batch.store(after: nil, spill: spill), counted: base.store))
    }

    /// Reads features again by other rules: another property as their id, or a projection that may not contain their
    /// positions.
    private static func read(
        _ store: FeatureStore, _ rules: FeatureRules, _ cancellation: Cancellation
    ) throws(SourceError) -> FeatureStore {
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        let step = 4096
        for start in stride(from: 0, to: store.count, by: step) {
            try cancellation.stopIfCancelled()
            var bytes = ByteWriter()
            bytes.append("[")
            for row in start..<min(start + step, store.count) {
                if row > start { bytes.append(",") }
                store.writeSent(row, into: &bytes)
            }
            bytes.append("]")
            do throws(GeoJSONError) { try builder.append(features: bytes.bytes) } catch {
                throw SourceError(error)
            }
        }
        return builder.finish(moments: store.plainMoments)
    }
}

/// The result of a change of options.
public struct OptionsOutcome: Sendable {
    /// The source with its new options.
    public let description: SourceDescription
    /// Warnings: what in the options is probably a mistake, and what to do.
    public let warnings: [String]

    /// The outcome of creating a source with options.
    public init(created source: Source, with options: SourceOptions) {
        self.init(description: source.description, warnings: options.warnings)
    }

    init(description: SourceDescription, warnings: [String]) {
        (self.description, self.warnings) = (description, warnings)
    }

    /// Writes the description with the warnings.
    public func write(into output: inout ByteWriter) {
        description.write(adding: ["warnings": ImportOutcome.json(warnings)], into: &output)
    }
}
