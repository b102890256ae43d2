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
    ///   - json: the text of a JSON array of features, each with an id.
    ///   - removals: ids to remove. None of them may be an id of the features.
    ///   - moment: the moment of insertion.
    package init(
        upserts json: [UInt8], removals: [FeatureIdentifier], rules: FeatureRules,
        at moment: Timestamp, policy: InvalidFeaturePolicy = .reject
    ) throws(SourceError) {
        self.policy = policy
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        do throws(GeoJSONError) { try builder.append(features: json) } catch { throw SourceError(error) }
        groups = builder.groups
        store = builder.finish(moments: FeatureMoments(all: moment.milliseconds))
        expiry = nil
        var identifiers: [FeatureIdentifier] = []
        for row in 0..<store.count {
            guard let identifier = store.featureIdentifier(row) else {
                let index = groups.feature(of: row)
                throw .badFeature(
                    index: index, reason: "noIdentifier", message: "Feature \(index) has no id, which an update needs.")
            }
            identifiers.append(identifier)
        }
        self.identifiers = identifiers
        self.removals = removals
        let upserted = Set(identifiers)
        for (index, identifier) in removals.enumerated() where upserted.contains(identifier) {
            throw .invalidParameter(path: "remove[\(index)]", message: "is also among the features to upsert")
        }
    }

    /// The maximum number of features that the update puts in and takes out.
    package var count: Int { store.count + removals.count }

    /// A revision after an update, and what the update changed.
    package struct Applied {
        package let revision: Revision
        package let plan: UpdatePlan
        /// The number of features left out because of their weight.
        let badWeights: Int

        /// The rows that the update changed or added; nil if the revision was built from scratch, so that rows were
        /// renumbered.
        package func changedRows(in base: Revision) -> [Int]? {
            revision.isPlain ? nil : Array(plan.changes.keys) + Array(base.store.count..<revision.store.count)
        }
    }

    /// Applies the update to a base revision, in place if that is possible; otherwise everything is clustered again.
    /// The answers are the same, except for cluster ids.
    ///
    /// - Parameters:
    ///   - isWhole: whether everything is clustered again even if the update could be applied in place.
    ///   - views: what becomes of named views that the update cannot be applied to in place.
    ///   - spill: when the text of features that are clustered again goes to a file; nil: never.
    package func apply(
        to base: Revision, owner: UInt32?, asWhole isWhole: Bool = false, views: ViewCompletion = .now,
        spill: TextSpill?, _ cancellation: Cancellation
    ) throws(SourceError) -> Applied {
        let start = ContinuousClock.now
        let shared = base.shared
        let maker = RevisionMaker(options: base.options, shared: shared, owner: owner, cancellation: cancellation)
        let batch = try maker.screen(store, policy: policy, groups: groups)
        let index = try base.identifierIndex(cancellation)
        let plan =
            if let expiry {
                UpdatePlan(removing: base.store.rows(notAfter: expiry).rows)
            } else {
                UpdatePlan(
                    upserts: identifiers, groups: groups, isLoaded: batch.accepts,
                    removals: removals, countsRows: base.options.geometries == .point,
                    rows: { index.rows(of: $0, in: base.store) })
            }
        let live =
            isWhole || plan.renumbersRows
            ? nil
            : try LiveUpdate(
                base: base, update: self, plan: plan, identifiers: index,
                threads: shared.limits.buildThreads, cancellation: cancellation
            ).make(since: start)
        shared.updates.count(live != nil)
        if let live {
            return Applied(
                revision: try maker.completing(live, views), plan: plan, badWeights: batch.badWeights)
        }
        let slices = plan.slices(old: base.store, new: store)
        return Applied(
            revision: try maker.make(FeatureStore.joining(slices, spill: spill)), plan: plan,
            badWeights: batch.badWeights)
    }
}
