// SPDX-License-Identifier: MIT
import Aggregates
import GeoJSON
import SourceStorage
import SystemSupport

extension Source {
    /// Puts single features in and takes others out, all at once or not at all.
    ///
    /// The answers afterwards are those of a load of the resulting features; clusters that the update does
    /// not change keep their ids. Blocks: only for threads of the pool.
    ///
    /// - Parameters:
    ///   - upserts: the text of a JSON array of features, each with an id; of equal ids the last counts.
    ///   - removals: ids of features that go.
    ///   - moment: when the features are put in; later than now never.
    /// - Complexity: what changes and the clusters above it; O(features) for options that cannot be followed.
    public func update(
        upserts json: UnsafeRawBufferPointer?, removals: [FeatureIdentifier], at moment: Timestamp = .now,
        _ cancellation: Cancellation
    ) throws(SourceError) -> UpdateOutcome {
        // Taking features out is never refused: it is how memory is given back.
        let claim = shared.memory.claim(for: owner)
        try claim.grow(to: (json?.count ?? 0) * Self.bytesOfUpsert)
        defer { withExtendedLifetime(claim) {} }
        var plan: UpdatePlan?
        let revision = try change(cancellation) { (base) throws(SourceError) -> Change in
            let update = try FeatureUpdate(
                upserts: json, removals: removals, rules: base.options.featureRules, at: moment)
            let (revision, made) = try update.apply(to: base, owner: owner, cancellation)
            plan = made
            return Change(
                revision: revision, keeping: .record(.update(upserts: json, removals: removals)),
                changedPlaces: made.places(in: base, to: revision), moment: moment)
        }
        return UpdateOutcome(
            description: description(of: revision), inserted: plan?.inserted ?? 0,
            updated: plan?.updated ?? 0, removed: plan?.removed ?? 0, missing: plan?.missing ?? 0)
    }

    /// What a byte of an upsert takes at most while it is worked in: its text, its record and its index.
    static let bytesOfUpsert = 3
}
