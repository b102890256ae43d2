// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// The answers of queries in columns: the rows that the JSON answers have as features, in the same order.
extension Revision {
    /// The clusters and points in a box at a zoom; see `writeClusters`.
    ///
    /// - Parameter geometry: whether there is a column of points.
    public func clusterColumns(
        _ query: ClustersQuery, of view: View, geometry: Bool, _ cancellation: Cancellation
    ) throws(SourceError) -> ColumnPages {
        let shown = try shown(
            query.output.restriction, in: view, at: view.index.level(for: query.zoom), cancellation)
        let found = try view.nodes(query, shown: shown, of: self)
        var metadata: [(name: String, value: String)] = []
        if query.limit != nil { metadata.append(("truncated", found.isTruncated ? "true" : "false")) }
        let warnings = warnings(of: query, found, view)
        if !warnings.isEmpty { metadata.append(("warnings", JSONValue.array(warnings.map { .string($0) }).text)) }
        let writer = FeatureWriter(
            revision: self, view: view, output: query.output, shown: shown, cancellation: cancellation)
        return try columns(found.nodes, by: writer, geometry: geometry, metadata)
    }

    /// A page of a cluster's points; see `writeLeaves`.
    public func leafColumns(
        of clusterId: Int64, in view: View, limit: Int, offset: Int, output: FeatureOutput, geometry: Bool,
        _ cancellation: Cancellation
    ) throws(SourceError) -> ColumnPages {
        let cluster = try shownCluster(clusterId, in: view, cancellation)
        let (page, total) = try page(of: cluster, in: view, limit: limit, offset: offset, output, cancellation)
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        return try columns(page, by: writer, geometry: geometry, [("total", String(total))])
    }

    /// The features in a box in order of an indexed property; see `writeTop`.
    public func topColumns(
        _ ranking: ViewRestriction.Ranking, in box: Box, of view: View, limit: Int, output: FeatureOutput,
        geometry: Bool, _ cancellation: Cancellation
    ) throws(SourceError) -> ColumnPages {
        let found = try topPoints(ranking, in: box, of: view, limit: limit, output, cancellation)
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        return try columns(found, by: writer, geometry: geometry, [])
    }

    /// All features that pass a filter; see `FeaturePages`.
    public func featureColumns(
        _ pages: FeaturePages, output: FeatureOutput, geometry: Bool, _ cancellation: Cancellation
    ) throws(SourceError) -> ColumnPages {
        let writer = FeatureWriter(revision: self, view: pages.view, output: output, cancellation: cancellation)
        return try ColumnPages(
            try RowReader(pages, of: writer), of: writer, geometry: geometry, metadata: version)
    }

    private func columns(
        _ nodes: [Node], by writer: FeatureWriter, geometry: Bool, _ metadata: [(name: String, value: String)]
    ) throws(SourceError) -> ColumnPages {
        try ColumnPages(
            try RowReader(nodes, of: writer), of: writer, geometry: geometry, metadata: metadata + version)
    }

    /// What identifies the data, as the ends of JSON answers do.
    private var version: [(name: String, value: String)] {
        var metadata = [(name: "revision", value: String(number))]
        if let position { metadata.append(("position", JSONValue.string(position).text)) }
        return metadata
    }
}
