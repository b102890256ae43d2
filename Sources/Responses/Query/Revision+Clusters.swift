// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures

extension Revision {
    /// Writes the clusters and points in a box at a zoom, as a FeatureCollection with `revision`, and
    /// `truncated` if there is a limit.
    ///
    /// Their order is documented with `ClusterIndex.nodes`: the same for the same data.
    ///
    /// - Parameter found: the nodes, if they have been found already.
    public func writeClusters(
        _ query: ClustersQuery, _ found: FoundNodes? = nil, of view: View, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        let shown = try shown(
            query.output.restriction, in: view, at: view.index.level(for: query.zoom), cancellation)
        let found = if let found { found } else { try view.nodes(query, shown: shown, of: self) }
        let nodes = found.nodes
        let form = query.output.form
        var collection = CollectionWriter(into: &bytes, interval: query.output.checkInterval, form: form)
        try writeShown(nodes, shown, query.output, of: view, to: &collection, into: &bytes, cancellation)
        collection.endFeatures(&bytes)
        let warnings = warnings(of: query, found, view)
        if form == .json {
            if query.limit != nil {
                bytes.append(found.isTruncated ? ",\"truncated\":true" : ",\"truncated\":false")
            }
            ImportOutcome.write(warnings: warnings, into: &bytes)
        } else {
            typealias Fields = TypedFields.GetClustersResponse
            if query.limit != nil { bytes.append(field: Fields.truncated, varint: found.isTruncated ? 1 : 0) }
            for warning in warnings { bytes.append(field: Fields.warnings, text: warning) }
        }
        endAnswer(&bytes, form: form)
    }

    /// Advice about a query that is probably mistaken.
    func warnings(of query: ClustersQuery, _ found: FoundNodes, _ view: View) -> [String] {
        view.warnings + (found.nodes.isEmpty && !view.isRestricted ? query.box.warnings(bounds: bounds) : [])
    }

    /// Writes the nodes of a map's view as features of a collection.
    private func writeShown(
        _ nodes: [Node], _ shown: ShownPoints?, _ output: FeatureOutput, of view: View,
        to collection: inout CollectionWriter,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let mayBeCached = nodes.count <= PrintedFeatures.mostFeatures && shown == nil
        let printed = mayBeCached ? ViewAnswerCache.of(view).printed(output) : nil
        // If all features are cached, no writer is needed. Making one takes a twentieth of such an answer.
        if let printed, printed.copy(nodes, to: &collection, into: &bytes) { return }
        let writer = FeatureWriter(
            revision: self, view: view, output: output, shown: shown, cancellation: cancellation)
        guard let printed else { return try writer.write(nodes, to: &collection, into: &bytes) }
        try printed.write(nodes, by: writer, to: &collection, into: &bytes)
    }

    /// Writes a cluster's children on the next zoom: the node it grew from first, then those that joined.
    public func writeChildren(
        of clusterId: Int64, in view: View, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let cluster = try shownCluster(clusterId, in: view, cancellation)
        let shown = try shown(output.restriction, in: view, cancellation)
        let writer = FeatureWriter(
            revision: self, view: view, output: output, shown: shown, cancellation: cancellation)
        var collection = CollectionWriter(into: &bytes, form: output.form)
        var children = view.index.children(of: cluster).filter(view.shows)
        if let shown { children.removeAll { !shown.shows($0) } }
        try writer.write(children, to: &collection, into: &bytes)
        collection.endFeatures(&bytes)
        endAnswer(&bytes, form: output.form)
    }

    /// Writes a page of a cluster's points, with `total`, how many it has.
    ///
    /// - Parameters:
    ///   - limit: the most points; 0 for all.
    ///   - offset: how many points to skip. Beyond the end the page is empty.
    public func writeLeaves(
        of clusterId: Int64, in view: View, limit: Int, offset: Int, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let cluster = try shownCluster(clusterId, in: view, cancellation)
        let (page, total) = try page(of: cluster, in: view, limit: limit, offset: offset, output, cancellation)
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        var collection = CollectionWriter(into: &bytes, form: output.form)
        try writer.write(page, to: &collection, into: &bytes)
        collection.endFeatures(&bytes)
        if output.form == .json {
            bytes.append(",\"total\":")
            bytes.append(integer: Int64(total))
        } else {
            bytes.append(field: TypedFields.GetLeavesResponse.total, nonZero: UInt64(total))
        }
        endAnswer(&bytes, form: output.form)
    }

    /// Some of a cluster's points, and how many there are.
    func page(
        of cluster: ClusterOrdinal, in view: View, limit: Int, offset: Int, _ output: FeatureOutput,
        _ cancellation: Cancellation
    ) throws(SourceError) -> ([Node], total: Int) {
        let offset = max(0, offset)
        guard let window = try shown(output.restriction, in: view, cancellation)?.window else {
            let leaves = view.index.leaves(of: cluster)
            let start = min(offset, leaves.count)
            let end = limit <= 0 || limit > leaves.count - start ? leaves.count : start + limit
            return (leaves[start..<end].map(Node.point), leaves.count)
        }
        let page = window.leaves(of: cluster, offset: offset, limit: limit <= 0 ? .max : limit) {
            cancellation.isCancelled
        }
        try cancellation.stopIfCancelled()
        return (page.map(Node.point), window.count(of: .cluster(cluster)))
    }

    /// Writes the zoom at which a cluster splits into its children.
    public func writeExpansionZoom(
        of clusterId: Int64, in view: View, into bytes: inout ByteWriter, _ cancellation: Cancellation = .never
    ) throws(SourceError) {
        let cluster = try shownCluster(clusterId, in: view, cancellation)
        bytes.append("{\"zoom\":")
        bytes.append(integer: Int64(view.index.expansionZoom(of: cluster).rawValue))
        endAnswer(&bytes)
    }
}
