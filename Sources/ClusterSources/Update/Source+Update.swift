// SPDX-License-Identifier: MIT
import GeoJSON

extension Source {
    /// Puts single features in and takes others out, all at once or not at all.
    ///
    /// The answers afterwards are those of the resulting features loaded anew. Blocks: only for threads of
    /// the pool.
    ///
    /// - Parameters:
    ///   - upserts: the text of a JSON array of features, each with an id; of equal ids the last counts.
    ///   - removals: ids of features that go.
    public func update(
        upserts json: UnsafeRawBufferPointer?, removals: [FeatureIdentifier], _ cancellation: Cancellation
    ) throws(SourceError) -> UpdateOutcome {
        var plan: UpdatePlan?
        let revision = try change(cancellation) { (base) throws(SourceError) -> Revision in
            let (store, identifiers) = try Self.read(json, promoteId: base.options.promoteId)
            try Self.refuseBoth(identifiers, removals)
            let maker = RevisionMaker(
                options: base.options, shared: shared, owner: owner, cancellation: cancellation)
            let loaded = try maker.screen(store, policy: .reject).loaded
            let index = try base.identifierIndex(cancellation)
            let made = UpdatePlan(
                upserts: identifiers, isLoaded: { loaded.contains($0) }, removals: removals,
                places: { index.places(of: $0, in: base.store) })
            plan = made
            return try maker.make(FeatureStore.joining(made.slices(old: base.store, new: store)))
        }
        return UpdateOutcome(
            description: description(of: revision), inserted: plan?.inserted ?? 0,
            updated: plan?.updated ?? 0,
            removed: plan?.removed ?? 0, missing: plan?.missing ?? 0)
    }

    private static func read(
        _ json: UnsafeRawBufferPointer?, promoteId: String?
    ) throws(SourceError) -> (FeatureStore, [FeatureIdentifier]) {
        var builder = FeatureStoreBuilder(policy: .reject, promoteId: promoteId)
        if let json {
            do throws(GeoJSONError) {
                try builder.append(features: json)
            } catch {
                throw SourceError(error)
            }
        }
        let store = builder.finish()
        var identifiers: [FeatureIdentifier] = []
        for place in 0..<store.count {
            guard let identifier = store.featureIdentifier(place) else {
                throw .badFeature(
                    index: place, reason: "noIdentifier",
                    message: "Feature \(place) has no id to be updated by.")
            }
            identifiers.append(identifier)
        }
        return (store, identifiers)
    }

    private static func refuseBoth(
        _ upserts: [FeatureIdentifier], _ removals: [FeatureIdentifier]
    ) throws(SourceError) {
        let upserted = Set(upserts)
        for (place, identifier) in removals.enumerated() where upserted.contains(identifier) {
            throw .invalidParameter(path: "remove[\(place)]", message: "is among the features to upsert too")
        }
    }
}
