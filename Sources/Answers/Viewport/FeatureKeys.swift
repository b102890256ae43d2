// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Sources
import SystemSupport

/// The keys of markers that transitions follow: a marker's key is that of the feature that it grew from, the same at every
/// zoom and in every revision.
struct FeatureKeys {
    private let revision: Revision
    private let view: View
    private let codes: FeatureCodes

    init(_ revision: Revision, _ view: View, _ cancellation: Cancellation) throws(SourceError) {
        self.revision = revision
        self.view = view
        codes = try revision.featureCodes(cancellation)
    }

    /// The key of a node's origin.
    func key(of node: Node) -> MarkerKey { key(ofFeature: view.feature(of: view.index.origin(of: node))) }

    /// A feature's key: derived from its id, or from its text if it has no id. Features for which that is the same
    /// are distinguished by their rank.
    private func key(ofFeature position: Int) -> MarkerKey {
        var identity = Fingerprint(seed: Fingerprint.open)
        let hasId = revision.store.withIdentifier(position) { id in
            guard let id else { return false }
            identity.add(UInt64(3))
            identity.add(id)
            return true
        }
        if !hasId {
            var text = ByteWriter(capacity: 512)
            revision.store.write(
                position, into: &text, selection: nil, precision: nil, leavingOut: MarkerWriter.keyMember)
            identity.add(UInt64(2))
            text.withUnsafeBytes { identity.add($0) }
        }
        let rank = codes.rank(of: position, in: revision.store)
        return MarkerKey(identity: identity.value, occurrence: UInt32(truncatingIfNeeded: rank))
    }
}
