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
        let row = from.view.feature(of: from.view.index.origin(of: node))
        guard let other = try self.row(of: row), let point = to.view.point(of: other) else { return nil }
        return to.view.index.node(showing: point, at: to.level)
    }

    /// The row of a feature in `to`: of the one with the same id or, without one, with the same text; nil if there is none.
    private func row(of row: Int) throws(SourceError) -> Int? {
        let (store, other) = (from.revision.store, to.revision.store)
        if isOneLineage, row < other.count, !other.isGone(row) { return row }
        guard let identifier = store.featureIdentifier(row) else {
            let code = try from.revision.featureCodes(cancellation).code(of: row, in: store)
            let found = try to.revision.featureCodes(cancellation).place(of: code, in: other)
            return found.flatMap { other.hasIdentifier($0) ? nil : $0 }
        }
        let rows = try to.revision.identifierIndex(cancellation).places(of: identifier, in: other)
        guard rows.count > 1 else { return rows.first }
        // Among features with the same id, the one of the same rank.
        let rank = try from.revision.featureCodes(cancellation).identity(of: row, in: store).rank
        return rank < rows.count ? rows[rank] : nil
    }
}
