// SPDX-License-Identifier: MIT
import GeoJSON
import SystemSupport

/// Features to upsert by their ids, and ids of features to remove.
package struct FeatureUpdate: Sendable {
    package let store: FeatureStore
    /// The ids by row of the store.
    package let identifiers: [FeatureIdentifier]
    /// Which rows of the store belong to one feature.
    package let groups: RowGroups
    package let removals: [FeatureIdentifier]
    /// Features inserted at this moment or earlier are removed, whatever their ids.
    package let expiry: Int64?
    /// What to do with features of invalid weight.
    private let policy: InvalidFeaturePolicy

    /// Makes an update of upserts only.
    package init(store: FeatureStore, identifiers: [FeatureIdentifier]) {
        (self.store, self.identifiers, removals, expiry) = (store, identifiers, [], nil)
        groups = RowGroups()
        policy = .reject
    }

    /// - Parameter limit: features inserted at this moment or earlier are removed. Milliseconds since 1970.
    package init(expiry limit: Int64) {
        store = FeatureStoreBuilder(policy: .reject, promoteId: nil).finish()
        (identifiers, removals, expiry) = ([], [], limit)
        groups = RowGroups()
        policy = .reject
    }

    /// - Parameters:
    ///   - json: the text of a JSON array of features, each with an id; nil for none.
    ///   - removals: ids to remove. None of them may be an id of the features.
    ///   - moment: the moment of insertion.
    package init(
        upserts json: UnsafeRawBufferPointer?, removals: [FeatureIdentifier], rules: FeatureRules,
        at moment: Timestamp, policy: InvalidFeaturePolicy = .reject
    ) throws(SourceError) {
        self.policy = policy
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        if let json {
            do throws(GeoJSONError) {
                try builder.append(features: json)
            } catch {
                throw SourceError(error)
            }
        }
        groups = builder.groups
        store = builder.finish(moments: FeatureMoments(all: moment.milliseconds))
        expiry = nil
        var identifiers: [FeatureIdentifier] = []
        for place in 0..<store.count {
            guard let identifier = store.featureIdentifier(place) else {
                let index = groups.feature(of: place)
                throw .badFeature(
                    index: index, reason: "noIdentifier",
                    message: "Feature \(index) has no id, which an update needs.")
            }
            identifiers.append(identifier)
        }
        self.identifiers = identifiers
        self.removals = removals
        let upserted = Set(identifiers)
        for (place, identifier) in removals.enumerated() where upserted.contains(identifier) {
            throw .invalidParameter(path: "remove[\(place)]", message: "is also among the features to upsert")
        }
    }

    /// The maximum number of features that the update puts in and takes out.
    package var count: Int { store.count + removals.count }

    /// Applies the update to a base revision, in place if that is
    /// possible; otherwise everything is clustered again. The answers are the same, except for cluster ids.
    ///
    /// - Parameter spill: when the text of features that are clustered again goes to a file; nil: never.
    package func apply(
        to base: Revision, owner: UInt32?, spill: TextSpill?, _ cancellation: Cancellation
    ) throws(SourceError) -> (Revision, UpdatePlan) {
        var badWeights = 0
        return try apply(to: base, owner: owner, spill: spill, badWeights: &badWeights, cancellation)
    }

    /// Applies the update as above.
    ///
    /// - Parameters:
    ///   - isWhole: whether everything is clustered again even if the update could be applied in place.
    ///   - spill: when the text of features that are clustered again goes to a file; nil: never.
    ///   - badWeights: set to the number of features left out because of their weight.
    package func apply(
        to base: Revision, owner: UInt32?, asWhole isWhole: Bool = false, spill: TextSpill? = nil,
        badWeights: inout Int, _ cancellation: Cancellation
    ) throws(SourceError) -> (Revision, UpdatePlan) {
        let start = ContinuousClock.now
        let shared = base.shared
        let maker = RevisionMaker(
            options: base.options, shared: shared, owner: owner, cancellation: cancellation)
        let batch = try maker.screen(store, policy: policy, groups: groups)
        let loaded = batch.loaded
        badWeights = batch.badWeights
        let index = try base.identifierIndex(cancellation)
        let plan =
            if let expiry {
                UpdatePlan(removing: base.store.places(notAfter: expiry).places)
            } else {
                UpdatePlan(
                    upserts: identifiers, groups: groups, isLoaded: { loaded.contains($0) },
                    removals: removals, countsRows: base.options.geometries == .point,
                    places: { index.places(of: $0, in: base.store) })
            }
        let live =
            isWhole || plan.renumbersRows
            ? nil
            : try LiveUpdate(
                base: base, update: self, plan: plan, identifiers: index,
                threads: shared.limits.buildThreads, cancellation: cancellation
            ).make(since: start)
        shared.updates.count(live != nil)
        if let live { return (live, plan) }
        let slices = plan.slices(old: base.store, new: store)
        return (try maker.make(FeatureStore.joining(slices, spill: spill)), plan)
    }
}
