// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import SourceStorage
import SystemSupport

/// Features to put in, by their ids, and ids of features to take out.
package struct FeatureUpdate: Sendable {
    package let store: FeatureStore
    /// By row of the store.
    package let identifiers: [FeatureIdentifier]
    /// Which rows of the store are one feature.
    package let groups: RowGroups
    package let removals: [FeatureIdentifier]
    /// Features put in at this moment or before go, whatever their ids.
    package let expiry: Int64?
    /// What becomes of features with a bad weight.
    private let policy: InvalidFeaturePolicy

    /// Features whose places are known.
    package init(store: FeatureStore, identifiers: [FeatureIdentifier]) {
        (self.store, self.identifiers, removals, expiry) = (store, identifiers, [], nil)
        groups = RowGroups()
        policy = .reject
    }

    /// - Parameter limit: features put in at this moment or before go, in milliseconds since 1970.
    package init(expiry limit: Int64) {
        store = FeatureStoreBuilder(policy: .reject, promoteId: nil).finish()
        (identifiers, removals, expiry) = ([], [], limit)
        groups = RowGroups()
        policy = .reject
    }

    /// - Parameters:
    ///   - json: the text of a JSON array of features, each with an id; nil for none.
    ///   - removals: none of them an id of the features.
    ///   - moment: when the features are put in.
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
                    message: "Feature \(index) has no id to be updated by.")
            }
            identifiers.append(identifier)
        }
        self.identifiers = identifiers
        self.removals = removals
        let upserted = Set(identifiers)
        for (place, identifier) in removals.enumerated() where upserted.contains(identifier) {
            throw .invalidParameter(path: "remove[\(place)]", message: "is among the features to upsert too")
        }
    }

    /// Makes the revision that a base becomes by the update, looking only at what changes where that is
    /// known how; else everything is clustered again. The answers are the same either way, ids apart.
    package func apply(
        to base: Revision, owner: UInt32?, _ cancellation: Cancellation
    ) throws(SourceError) -> (Revision, UpdatePlan) {
        var badWeights = 0
        return try apply(to: base, owner: owner, badWeights: &badWeights, cancellation)
    }

    /// The same.
    ///
    /// - Parameter badWeights: how many features were left out because of their weight.
    package func apply(
        to base: Revision, owner: UInt32?, badWeights: inout Int, _ cancellation: Cancellation
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
        let live = try LiveUpdate(
            base: base, update: self, plan: plan, identifiers: index,
            threads: shared.limits.buildThreads, cancellation: cancellation
        ).make(since: start)
        shared.updates.count(live != nil)
        if let live { return (live, plan) }
        return (try maker.make(FeatureStore.joining(plan.slices(old: base.store, new: store))), plan)
    }
}
