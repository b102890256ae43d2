// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Sources
import SystemSupport

extension Revision {
    /// Writes the smallest change from a client's markers to a query's answer:
    /// `{"add":[features],"remove":[keys],"keep":n,"revision":n}`, and `truncated` if there is a limit.
    ///
    /// Each feature in `add` has a member `key`. If the client already has that key, the feature replaces the
    /// old one: it is the same marker with new content, such as a cluster's new id.
    /// Keys are unique among a client's markers, and the same for the same marker in every revision.
    ///
    /// - Parameter table: what the client has.
    /// - Returns: what the client has after it has applied the change.
    /// - Complexity: that of `writeClusters`, and sorting the markers. If the nodes have not changed, only finding them.
    public func writeChange(
        from table: MarkerTable, to query: ClustersQuery, of view: View, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) -> MarkerTable {
        var nodes: [Node] = []
        nodes.reserveCapacity(table.count + Self.expectedGrowth)
        let isTruncated = try view.nodes(query, into: &nodes)
        var writer = MarkerWriter(
            FeatureWriter(revision: self, view: view, output: query.output, cancellation: cancellation))
        var old = table.memo
        if old?.holds(for: self, view) == false { old = nil }
        // Most changes of a source are outside the viewport. The memo leaves out nodes that do not last.
        if let old, table.count == nodes.count, old.isOf(nodes),
            nodes.allSatisfy({ isLasting($0, in: view) })
        {
            try write(
                MarkerChange(keeping: table), of: nodes, with: writer, query, isTruncated, into: &bytes,
                cancellation)
            return table
        }
        var new = nodes.count <= CandidateMemo.capacity ? CandidateMemo(of: self, view) : nil
        var candidates: [Candidate] = []
        candidates.reserveCapacity(nodes.count)
        for (place, node) in nodes.enumerated() {
            if place % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            let isLasting = isLasting(node, in: view)
            var candidate = isLasting ? old?.candidate(for: node, at: place) : nil
            if candidate == nil { candidate = try writer.candidate(for: node, at: place) }
            guard let candidate else { continue }
            if isLasting { new?.note(node, candidate) }
            candidates.append(candidate)
        }
        let change = MarkerChange(from: table, to: candidates)
        try write(change, of: nodes, with: writer, query, isTruncated, into: &bytes, cancellation)
        var table = change.table
        table.memo = new
        return table
    }

    /// How many nodes a viewport may gain from one answer to the next without a second allocation.
    private static let expectedGrowth = 8

    /// Whether a node is the same in all revisions of this lineage that contain it.
    func isLasting(_ node: Node, in view: View) -> Bool {
        switch node {
        case .cluster: true
        case .point(let point): !store.isChanged(view.feature(of: point))
        }
    }

    private func write(
        _ change: MarkerChange, of nodes: [Node], with writer: borrowing MarkerWriter, _ query: ClustersQuery,
        _ isTruncated: Bool, into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        bytes.append("{\"add\":[")
        for (count, added) in change.added.enumerated() {
            if count % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            if count > 0 { bytes.append(",") }
            try writer.write(nodes[added.place], key: added.key, into: &bytes)
        }
        bytes.append("],\"remove\":[")
        for (count, removed) in change.removed.enumerated() {
            if count > 0 { bytes.append(",") }
            MarkerWriter.write(key: removed.key, into: &bytes)
        }
        bytes.append("],\"keep\":")
        bytes.append(integer: change.kept)
        if query.limit != nil {
            bytes.append(isTruncated ? ",\"truncated\":true" : ",\"truncated\":false")
        }
        endCollection(&bytes)
    }
}
