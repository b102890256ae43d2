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
    /// Of equal ids in a step the last feature is used.
    let steps: [UpdatePlan.Step]
    /// Features inserted at this moment or earlier are removed, whatever their ids.
    package let expiry: Int64?
    /// What to do with features of invalid weight.
    private let policy: InvalidFeaturePolicy
    /// Whether those that are left out leave the features with their ids as they are. Otherwise they remove them.
    private var ignoresInvalid: Bool { read != nil }
    /// The items of a log that it is made of; nil if it is of none.
    private let read: ReadItems?

    /// Makes an update of upserts only.
    package init(store: FeatureStore, identifiers: [FeatureIdentifier]) {
        (self.store, self.identifiers, expiry) = (store, identifiers, nil)
        steps = [UpdatePlan.Step(removals: [], rows: 0..<store.count)]
        groups = RowGroups()
        (policy, read) = (.reject, nil)
    }

    /// - Parameter limit: features inserted at this moment or earlier are removed. Milliseconds since 1970.
    package init(expiry limit: Int64) {
        store = FeatureStoreBuilder(policy: .reject, promoteId: nil).finish()
        (identifiers, steps, expiry) = ([], [], limit)
        groups = RowGroups()
        (policy, read) = (.reject, nil)
    }

    /// Makes an update of items of a log.
    init(_ read: ReadItems, policy: InvalidFeaturePolicy) {
        (store, identifiers, groups, expiry) = (read.store, read.identifiers, read.groups, nil)
        steps = read.items.indices.map { index in
            UpdatePlan.Step(removals: read.items[index].removals, rows: read.rows(of: index))
        }
        (self.policy, self.read) = (policy, read)
    }

    /// - Parameters:
    ///   - json: the text of a JSON array of features, each with an id.
    ///   - removals: ids to remove.
    ///   - allowsBoth: whether an id may be in both: then its feature is removed, and the new one appended.
    ///   - moment: the moment of insertion.
    package init(
        upserts json: [UInt8], removals: [FeatureIdentifier], allowsBoth: Bool = false, rules: FeatureRules,
        at moment: Timestamp, policy: InvalidFeaturePolicy = .reject
    ) throws(SourceError) {
        (self.policy, read) = (policy, nil)
        var builder = FeatureStoreBuilder(policy: .reject, rules: rules)
        do throws(GeoJSONError) { try builder.append(features: json) } catch { throw SourceError(error) }
        groups = builder.groups
        store = builder.finish(moments: FeatureMoments(all: moment.milliseconds))
        expiry = nil
        var identifiers: [FeatureIdentifier] = []
        for row in 0..<store.count {
            guard let identifier = store.featureIdentifier(row) else {
                throw .withoutIdentifier(groups.feature(of: row))
            }
            identifiers.append(identifier)
        }
        self.identifiers = identifiers
        steps = [UpdatePlan.Step(removals: removals, rows: 0..<store.count)]
        guard !allowsBoth else { return }
        let upserted = Set(identifiers)
        for (index, identifier) in removals.enumerated() where upserted.contains(identifier) {
            throw .inBothLists(index)
        }
    }

    /// The maximum number of features that the update puts in and takes out.
    package var count: Int { steps.reduce(store.count) { $0 + $1.removals.count } }

    /// A revision after an update, and what the update changed.
    package struct Applied {
        package let revision: Revision
        package let plan: UpdatePlan
        /// The number of features left out because of their weight.
        let badWeights: Int
        /// Whether all clusters were made again, so that a compaction of earlier ones is of no use.
        var isClusteredAgain = false

        /// The rows that the update changed or added; nil if all clusters were made again.
        package func changedRows(in base: Revision) -> [Int]? {
            guard !revision.isPlain, !isClusteredAgain else { return nil }
            return plan.changes.map(\.row) + Array(base.store.count..<revision.store.count)
        }
    }

    /// Applies the update to a base revision, in place if that is possible; otherwise everything is clustered again.
    /// The answers are the same, except for cluster ids.
    ///
    /// - Parameters:
    ///   - isWhole: whether everything is clustered again even if the update could be applied in place.
    ///   - keepsUnchanged: whether the result is the base revision if nothing changes.
    ///   - keepsFeatures: whether features that do not change stay where they are, if possible, when everything is
    ///     clustered again. The next update then takes longer to read, and a snapshot has to gather them.
    ///   - views: what becomes of named views that the update cannot be applied to in place.
    ///   - spill: when the text of features that are clustered again goes to a file; nil: never.
    package func apply(
        to base: Revision, owner: UInt32?, asWhole isWhole: Bool = false, keepsUnchanged: Bool = false,
        keepsFeatures: Bool = false,
        views: ViewCompletion = .now,
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
                    steps, identifiers: identifiers, groups: groups, isLoaded: batch.accepts,
                    isIgnored: ignoresInvalid ? batch.isBad : { _ in false },
                    countsRows: base.options.geometries == .point,
                    threads: shared.limits.buildThreads, index: index, old: base.store)
            }
        if keepsUnchanged, plan.isEmpty {
            return Applied(revision: base, plan: plan, badWeights: batch.badWeights)
        }
        let hasPartitions = ([base] + base.views).contains { $0.options.partitionBy != nil }
        if let read, hasPartitions, plan.outcome.rows.count < store.count {
            // Partitions are numbered as they occur, and a replay has to number the same ones.
            let made = try read.update(plan).apply(
                to: base, owner: owner, asWhole: isWhole, keepsFeatures: keepsFeatures, views: views, spill: spill,
                cancellation)
            return Applied(
                revision: made.revision, plan: plan, badWeights: batch.badWeights,
                isClusteredAgain: made.isClusteredAgain)
        }
        let live = LiveUpdate(
            base: base, update: self, plan: plan, identifiers: index, threads: shared.limits.buildThreads,
            cancellation: cancellation)
        let followed = isWhole || plan.renumbersRows ? nil : try live.make(since: start)
        shared.updates.count(followed != nil)
        if let followed {
            return Applied(
                revision: try maker.completing(followed, views), plan: plan, badWeights: batch.badWeights)
        }
        if keepsFeatures, !plan.renumbersRows, let made = try maker.makeClusteredAgain(live, since: start) {
            return Applied(
                revision: try maker.completing(made, views), plan: plan, badWeights: batch.badWeights,
                isClusteredAgain: true)
        }
        let slices = plan.slices(old: base.store, new: store)
        return Applied(
            revision: try maker.make(FeatureStore.joining(slices, spill: spill)), plan: plan,
            badWeights: batch.badWeights)
    }
}
