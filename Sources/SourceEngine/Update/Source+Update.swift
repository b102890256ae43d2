// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SystemSupport

extension Source {
    /// Upserts and removes single features, all at once or not at all.
    ///
    /// The answers afterwards are those of a load of the resulting features. Clusters that the update does
    /// not change keep their ids. Blocks: only for threads of the pool.
    ///
    /// - Parameters:
    ///   - json: the text of a JSON array of features, each with an id; nil for none. Of equal ids the last one is
    ///     used.
    ///   - removals: ids of features to remove.
    ///   - moment: the moment of insertion, never later than now.
    /// - Complexity: O(the changes and the clusters above them); O(features) if the options do not allow updates in
    ///   place.
    public func update(
        upserts json: [UInt8]?, removals: [FeatureIdentifier], at moment: Timestamp = .now, _ cancellation: Cancellation
    ) throws(SourceError) -> UpdateOutcome {
        // Removals are never rejected, since they release memory.
        let claim = shared.memory.claim(for: owner)
        try claim.grow(to: (json?.count ?? 0) * Self.bytesOfUpsert)
        defer { withExtendedLifetime(claim) {} }
        let json = json ?? JournalRecord.emptyList
        var plan: UpdatePlan?
        let revision = try change(cancellation) { (base) throws(SourceError) -> Change in
            let update = try FeatureUpdate(
                upserts: json, removals: removals, rules: base.options.featureRules, at: moment)
            let made = try update.apply(to: base, owner: owner, views: viewCompletion, spill: updateSpill, cancellation)
            plan = made.plan
            return Change(
                revision: made.revision, keeping: .record(.update(upserts: json, removals: removals)),
                changedRows: made.changedRows(in: base), moment: moment)
        }
        return UpdateOutcome(
            description: description(of: revision), inserted: plan?.inserted ?? 0,
            updated: plan?.updated ?? 0, removed: plan?.removed ?? 0, missing: plan?.missing ?? 0)
    }

    /// For the text of features that an update clusters again. During a replay it stays in memory: a full disk must not
    /// make acknowledged data unavailable.
    var updateSpill: TextSpill? { files?.isReplaying == true ? nil : spill }

    /// When an update clusters the named views that it cannot be applied to in place.
    var viewCompletion: ViewCompletion { files?.isReplaying == true ? .afterReplay : .now }

    /// The most bytes of memory for each byte of an upsert while it is applied: its text, its record and its index.
    static let bytesOfUpsert = 3
}

/// The result of an update of single features.
public struct UpdateOutcome: Sendable {
    /// The source after the update became visible.
    public let description: SourceDescription
    /// The number of new features.
    public let inserted: Int
    /// The number of existing features that were replaced.
    public let updated: Int
    /// The number of removed features.
    public let removed: Int
    /// The number of ids to remove that no feature had.
    public let missing: Int

    /// Writes the description with the counts.
    public func write(into output: inout ByteWriter) {
        description.write(
            adding: [
                "inserted": .number(Double(inserted)), "updated": .number(Double(updated)),
                "removed": .number(Double(removed)), "missing": .number(Double(missing)),
            ], into: &output)
    }
}
