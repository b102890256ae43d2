// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import Sources
import SystemSupport

/// Finds the node that shows, in other data or at another zoom, the feature that a node grew from.
struct FeatureTrace {
    private let from: ShownMarkers.Origin
    private let to: ShownMarkers.Origin
    /// Whether a feature has the same row in both.
    private let isOneLineage: Bool
    private let cancellation: Cancellation

    init(from: ShownMarkers.Origin, to: ShownMarkers.Origin, _ cancellation: Cancellation) {
        self.from = from
        self.to = to
        self.cancellation = cancellation
        isOneLineage = from.revision.store.lineage == to.revision.store.lineage
    }

    /// The node of `to` that contains the origin of a node of `from`; nil if it has no such feature.
    func target(of node: Node) throws(SourceError) -> Node? {
        let place = from.view.feature(of: from.view.index.origin(of: node))
        guard let other = try self.place(of: place), let point = to.view.point(of: other) else { return nil }
        return to.view.index.node(showing: point, at: to.level)
    }

    private func place(of place: Int) throws(SourceError) -> Int? {
        let store = to.revision.store
        if isOneLineage, place < store.count, !store.isGone(place) { return place }
        guard let identifier = from.revision.store.featureIdentifier(place) else { return nil }
        let places = try to.revision.identifierIndex(cancellation).places(of: identifier, in: store)
        guard places.count > 1 else { return places.first }
        // Among features with the same id, the one of the same rank.
        let rank = try from.revision.featureCodes(cancellation).rank(of: place, in: from.revision.store)
        return rank < places.count ? places[rank] : nil
    }
}
