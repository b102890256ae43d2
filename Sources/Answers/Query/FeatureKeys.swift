// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
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

    /// The key of a node's origin: that feature's id by its value or, without one, its text. Features for which that is the same
    /// are distinguished by their rank.
    func key(of node: Node) -> MarkerKey {
        let feature = view.feature(of: view.index.origin(of: node))
        let (hash, rank) = codes.identity(of: feature, in: revision.store)
        return MarkerKey(identity: hash, occurrence: UInt32(truncatingIfNeeded: rank))
    }
}
