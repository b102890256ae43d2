// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Sources
import SystemSupport

extension Revision {
    /// Writes the changes that make a client's map show a query's answer, with the origins and targets of its markers:
    /// `{"add":[features],"update":[features],"remove":[{"key":k,"into":k}],"keep":n,"revision":n}`, and
    /// `truncated` if there is a limit.
    ///
    /// - Parameter shown: what the client has.
    /// - Returns: what the client has after it has applied the change.
    /// - Complexity: that of `writeClusters`, and O(zooms) for each marker that appears or disappears.
    public func writeTransitions(
        from shown: ShownMarkers, to query: ClustersQuery, of view: View, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) -> ShownMarkers {
        var nodes: [Node] = []
        let isTruncated = try view.nodes(query, into: &nodes)
        let origin = ShownMarkers.Origin(
            revision: self, view: view, level: view.index.level(for: query.zoom))
        var writer = MarkerWriter(
            FeatureWriter(revision: self, view: view, output: query.output, cancellation: cancellation))
        let next = try rows(of: nodes, origin, shown, query, &writer, cancellation)
        let change = TransitionChange(from: shown, to: next)
        bytes.append("{\"add\":[")
        try write(change.added, of: next, from: shown, with: writer, query, into: &bytes, cancellation)
        bytes.append("],\"update\":[")
        for (count, index) in change.updated.enumerated() {
            if count % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            if count > 0 { bytes.append(",") }
            try writer.write(next.rows[index].node, key: next.rows[index].key, into: &bytes)
        }
        bytes.append("],\"remove\":[")
        try write(removed: change.removed, of: shown, into: next, &bytes, cancellation)
        bytes.append("],\"keep\":")
        bytes.append(integer: change.kept)
        if query.limit != nil {
            bytes.append(isTruncated ? ",\"truncated\":true" : ",\"truncated\":false")
        }
        endCollection(&bytes)
        return next
    }

    /// The markers of an answer. The text of an unchanged marker that the client has is not written again.
    private func rows(
        of nodes: [Node], _ origin: ShownMarkers.Origin, _ shown: ShownMarkers, _ query: ClustersQuery,
        _ writer: inout MarkerWriter, _ cancellation: Cancellation
    ) throws(SourceError) -> ShownMarkers {
        let keys = try FeatureKeys(self, origin.view, cancellation)
        let isOneLineage =
            shown.origin.map {
                $0.view.index.lineage == origin.view.index.lineage
                    && $0.revision.store.lineage == store.lineage
            } ?? false
        let known = isOneLineage ? shown.indexesByNode : [:]
        var rows: [ShownMarkers.Row] = []
        rows.reserveCapacity(nodes.count)
        for (position, node) in nodes.enumerated() {
            if position % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            let content: UInt64
            if isLasting(node, in: origin.view), let index = known[node] {
                content = shown.rows[index].content
            } else {
                content = try writer.content(of: node)
            }
            rows.append(ShownMarkers.Row(key: keys.key(of: node), content: content, node: node))
        }
        return ShownMarkers(rows, of: origin)
    }

    private func write(
        _ added: [Int], of next: ShownMarkers, from shown: ShownMarkers, with writer: borrowing MarkerWriter,
        _ query: ClustersQuery, into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        var trace: FeatureTrace?
        if let here = next.origin, let there = shown.origin, !added.isEmpty {
            trace = FeatureTrace(from: here, to: there, cancellation)
        }
        let known = trace == nil ? [:] : shown.indexesByNode
        for (count, index) in added.enumerated() {
            if count % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            if count > 0 { bytes.append(",") }
            let row = next.rows[index]
            let source = try trace?.target(of: row.node).flatMap { known[$0] }
            try writer.write(
                row.node, key: row.key, from: source.map { shown.rows[$0].key }, into: &bytes)
        }
    }

    private func write(
        removed: [Int], of shown: ShownMarkers, into next: ShownMarkers, _ bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        guard let there = shown.origin, let here = next.origin, !removed.isEmpty else { return }
        let trace = FeatureTrace(from: there, to: here, cancellation)
        let known = next.indexesByNode
        for (count, index) in removed.enumerated() {
            if count % 256 == 0 { try cancellation.stopIfCancelled() }
            if count > 0 { bytes.append(",") }
            let row = shown.rows[index]
            bytes.append("{\"key\":")
            MarkerWriter.write(key: row.key, into: &bytes)
            if let target = try trace.target(of: row.node).flatMap({ known[$0] }) {
                bytes.append(",\"into\":")
                MarkerWriter.write(key: next.rows[target].key, into: &bytes)
            }
            bytes.append("}")
        }
    }
}

/// Which markers appear, disappear and change.
private struct TransitionChange {
    /// Indexes of the new rows.
    private(set) var added: [Int] = []
    /// Indexes of the new rows.
    private(set) var updated: [Int] = []
    /// Indexes of the old rows.
    private(set) var removed: [Int] = []
    private(set) var kept = 0

    init(from shown: ShownMarkers, to next: ShownMarkers) {
        let known = shown.indexesByKey
        var stays = [Bool](repeating: false, count: shown.count)
        for (index, row) in next.rows.enumerated() {
            guard let old = known[row.key] else {
                added.append(index)
                continue
            }
            stays[old] = true
            if shown.rows[old].content == row.content { kept += 1 } else { updated.append(index) }
        }
        removed = stays.indices.filter { !stays[$0] }
    }
}
