// SPDX-License-Identifier: MIT
import Clustering
import SourceEngine
import SystemSupport

/// What callers see of a source who may not see everything.
extension Revision {
    /// A cluster that a caller names. One that is not shown does not exist for the caller.
    func shownCluster(
        _ id: Int64, in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> ClusterOrdinal {
        let cluster = try cluster(id, in: view, cancellation)
        guard view.shows(.cluster(cluster)) else { throw .clusterNotFound(id) }
        return cluster
    }

    /// What a caller sees of the source by a filter.
    ///
    /// - Complexity: O(points), on top of the filter's view.
    public func part(seenBy filter: QueryFilter, _ cancellation: Cancellation) throws(SourceError)
        -> SourceDescription.Part
    {
        let view = try view(filter, zoom: nil, cancellation)
        let count = view.index.pointCount
        // The extent is that of the outermost points.
        guard view.leastCount <= 1 else {
            return SourceDescription.Part(points: count >= view.leastCount ? count : 0, bounds: nil)
        }
        return SourceDescription.Part(points: count, bounds: try extent(of: view, cancellation))
    }

    /// The extent of a view's points, in the source's units; nil without points.
    private func extent(of view: View, _ cancellation: Cancellation) throws(SourceError) -> Box? {
        // The view of all features, or a declared view that shows the same.
        guard let rows = view.members else { return view.bounds }
        guard !rows.isEmpty else { return nil }
        return try ViewAnswerCache.of(view).bounds { () throws(SourceError) in
            var box = Box.nowhere
            for (position, row) in rows.enumerated() {
                if position & 0xffff == 0 { try cancellation.stopIfCancelled() }
                box.include(store.coordinates(Int(row)))
            }
            return box
        }
    }
}
