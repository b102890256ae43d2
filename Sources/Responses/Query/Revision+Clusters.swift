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
        let found = if let found { found } else { try view.nodes(query) }
        let nodes = found.nodes
        let form = query.output.form
        var collection = CollectionWriter(into: &bytes, interval: query.output.checkInterval, form: form)
        try writeShown(nodes, query.output, of: view, to: &collection, into: &bytes, cancellation)
        collection.endFeatures(&bytes)
        let advice = nodes.isEmpty ? query.box.warnings(bounds: bounds) : []
        if form == .json {
            if query.limit != nil {
                bytes.append(found.isTruncated ? ",\"truncated\":true" : ",\"truncated\":false")
            }
            ImportOutcome.write(warnings: view.warnings + advice, into: &bytes)
        } else {
            typealias Fields = TypedFields.GetClustersResponse
            if query.limit != nil { bytes.append(field: Fields.truncated, varint: found.isTruncated ? 1 : 0) }
            for warning in view.warnings + advice { bytes.append(field: Fields.warnings, text: warning) }
        }
        endAnswer(&bytes, form: form)
    }

    /// Writes the nodes of a map's view as features of a collection.
    private func writeShown(
        _ nodes: [Node], _ output: FeatureOutput, of view: View, to collection: inout CollectionWriter,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let mayBeCached = nodes.count <= PrintedFeatures.mostFeatures
        let printed = mayBeCached ? ViewAnswerCache.of(view).printed(output) : nil
        // If all features are cached, no writer is needed. Making one takes a twentieth of such an answer.
        if let printed, printed.copy(nodes, to: &collection, into: &bytes) { return }
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        guard let printed else { return try writer.write(nodes, to: &collection, into: &bytes) }
        try printed.write(nodes, by: writer, to: &collection, into: &bytes)
    }

    /// Writes a cluster's children on the next zoom: the node it grew from first, then those that joined.
    public func writeChildren(
        of clusterId: Int64, in view: View, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let cluster = try cluster(clusterId, in: view, cancellation)
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        var collection = CollectionWriter(into: &bytes, form: output.form)
        try writer.write(Array(view.index.children(of: cluster)), to: &collection, into: &bytes)
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
        let cluster = try cluster(clusterId, in: view, cancellation)
        let leaves = view.index.leaves(of: cluster)
        let start = min(max(0, offset), leaves.count)
        let end = limit <= 0 || limit > leaves.count - start ? leaves.count : start + limit
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        var collection = CollectionWriter(into: &bytes, form: output.form)
        try writer.write(leaves[start..<end].map(Node.point), to: &collection, into: &bytes)
        collection.endFeatures(&bytes)
        if output.form == .json {
            bytes.append(",\"total\":")
            bytes.append(integer: Int64(leaves.count))
        } else {
            bytes.append(field: TypedFields.GetLeavesResponse.total, nonZero: UInt64(leaves.count))
        }
        endAnswer(&bytes, form: output.form)
    }

    /// Writes the zoom at which a cluster splits into its children.
    public func writeExpansionZoom(
        of clusterId: Int64, in view: View, into bytes: inout ByteWriter, _ cancellation: Cancellation = .never
    ) throws(SourceError) {
        let cluster = try cluster(clusterId, in: view, cancellation)
        bytes.append("{\"zoom\":")
        bytes.append(integer: Int64(view.index.expansionZoom(of: cluster).rawValue))
        endAnswer(&bytes)
    }
}
