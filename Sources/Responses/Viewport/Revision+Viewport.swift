// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures

extension Revision {
    /// Writes the smallest change from a client's markers to a query's answer:
    /// `{"add":[features],"remove":[keys],"keep":n,"revision":n}`, and `truncated` if there is a limit.
    ///
    /// Each feature in `add` has a member `key`. If the client already has that key, the feature replaces the
    /// old one: it is the same marker with new content, such as a cluster's new id.
    /// Keys are unique among a client's markers, and the same for the same marker in every revision.
    ///
    /// With transitions, features whose keys the client has are in `update` instead; those in `add` have the key of
    /// the marker that they come from, `from`; and `remove` has objects with `key`, and `into`, the key of the marker
    /// that the marker goes into.
    ///
    /// - Parameter shown: what the client has.
    /// - Returns: what the client has after it has applied the change.
    /// - Complexity: that of `writeClusters`, with transitions also O(zooms) for each marker that appears or
    ///   disappears. If the nodes have not changed, only finding them.
    public func writeChange(
        from shown: ShownMarkers, to query: ClustersQuery, of view: View, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) -> ShownMarkers {
        let level = view.index.level(for: query.zoom)
        let restricted = try self.shown(query.output.restriction, in: view, at: level, cancellation)
        let found = try view.nodes(
            query, expected: shown.count + Self.expectedGrowth, shown: restricted, of: self)
        let nodes = found.nodes
        var writer = MarkerWriter(
            FeatureWriter(
                revision: self, view: view, output: query.output, shown: restricted, cancellation: cancellation))
        var next = ShownMarkers(
            after: shown, of: ShownMarkers.Origin(revision: self, view: view, level: level),
            query.output.restriction)
        let change: MarkerChange
        if isShown(nodes, by: shown, next, in: view) {
            next.rows = shown.rows
            change = MarkerChange(keeping: shown)
        } else {
            try appendRows(of: nodes, to: &next, shown, query, view, &writer, cancellation)
            if !shown.hasTransitions { next.number(after: shown) }
            change = MarkerChange(from: shown, to: next)
        }
        let added = shown.hasTransitions ? change.added : (change.added + change.updated).sorted()
        guard query.output.form == .json else {
            typealias Fields = TypedFields.WatchClustersResponse
            try write(added, as: Fields.add, of: next, from: shown, with: writer, query, into: &bytes, cancellation)
            if shown.hasTransitions {
                try write(
                    change.updated, as: Fields.update, of: next, from: nil, with: writer, query, into: &bytes,
                    cancellation)
            }
            try write(removed: change.removed, of: shown, into: next, isJSON: false, &bytes, cancellation)
            bytes.append(field: Fields.keep, nonZero: UInt64(change.kept))
            if query.limit != nil { bytes.append(field: Fields.truncated, varint: found.isTruncated ? 1 : 0) }
            endAnswer(&bytes, form: query.output.form)
            return next
        }
        bytes.append("{\"add\":[")
        try write(added, of: next, from: shown, with: writer, query, into: &bytes, cancellation)
        if shown.hasTransitions {
            bytes.append("],\"update\":[")
            try write(change.updated, of: next, from: nil, with: writer, query, into: &bytes, cancellation)
        }
        bytes.append("],\"remove\":[")
        try write(removed: change.removed, of: shown, into: next, isJSON: true, &bytes, cancellation)
        bytes.append("],\"keep\":")
        bytes.append(integer: change.kept)
        if query.limit != nil {
            bytes.append(found.isTruncated ? ",\"truncated\":true" : ",\"truncated\":false")
        }
        endAnswer(&bytes)
        return next
    }

    /// How many nodes a viewport may gain from one answer to the next without a second allocation.
    private static let expectedGrowth = 8

    /// Whether a client has just these nodes. Most changes of a source are outside a viewport.
    private func isShown(
        _ nodes: [Node], by shown: ShownMarkers, _ next: ShownMarkers, in view: View
    ) -> Bool {
        !shown.hasTransitions && shown.shows(theSameAs: next)
            && nodes.elementsEqual(shown.rows.lazy.map(\.node))
            && nodes.allSatisfy { isLasting($0, in: view) }
    }

    /// Whether a node is the same in all revisions of this lineage that contain it.
    private func isLasting(_ node: Node, in view: View) -> Bool {
        switch node {
        case .cluster: true
        case .point(let point): !store.isChanged(view.feature(of: point))
        }
    }

    /// Appends the markers of an answer. The text of an unchanged marker that the client has is not written again.
    private func appendRows(
        of nodes: [Node], to next: inout ShownMarkers, _ shown: ShownMarkers, _ query: ClustersQuery,
        _ view: View, _ writer: inout MarkerWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let keys = shown.hasTransitions ? try FeatureKeys(self, view, cancellation) : nil
        let known = shown.shows(theSameAs: next) ? shown.indexesByNode : [:]
        next.rows.reserveCapacity(nodes.count)
        for (position, node) in nodes.enumerated() {
            if position % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            if isLasting(node, in: view), let old = known[node].map({ shown.rows[$0] }) {
                let key =
                    keys.map { writer.key(of: node, $0) } ?? MarkerKey(identity: old.key.identity, occurrence: 0)
                next.rows.append(ShownMarkers.Row(key: key, content: old.content, node: node))
            } else {
                let content = try writer.content(of: node)
                let key =
                    keys.map { writer.key(of: node, $0) }
                    ?? MarkerKey(identity: writer.identity(of: node), occurrence: 0)
                next.rows.append(ShownMarkers.Row(key: key, content: content, node: node))
            }
        }
    }

    /// - Parameters:
    ///   - field: in a message, the field that each of them is.
    ///   - shown: nil if the features need no `from`.
    private func write(
        _ indexes: [Int], as field: Int? = nil, of next: ShownMarkers, from shown: ShownMarkers?,
        with writer: borrowing MarkerWriter, _ query: ClustersQuery, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        var trace: FeatureTrace?
        if let here = next.origin, let there = shown?.origin, !indexes.isEmpty {
            trace = FeatureTrace(from: here, to: there, cancellation)
        }
        let known = trace == nil ? [:] : shown?.indexesByNode ?? [:]
        for (count, index) in indexes.enumerated() {
            if count % query.output.checkInterval == 0 { try cancellation.stopIfCancelled() }
            if count > 0, field == nil { bytes.append(",") }
            let row = next.rows[index]
            let source = try trace?.target(of: row.node).flatMap { known[$0] }
            try writer.write(
                row.node, as: field ?? 0, key: row.key, from: source.flatMap { shown?.rows[$0].key }, into: &bytes)
        }
    }

    private func write(
        removed: [Int], of shown: ShownMarkers, into next: ShownMarkers, isJSON: Bool, _ bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        guard let there = shown.origin, let here = next.origin, !removed.isEmpty else {
            let keys = removed.map { shown.rows[$0].key }.sorted()
            for (count, key) in keys.enumerated() {
                guard isJSON else {
                    writeMessage(removed: key, into: nil, &bytes)
                    continue
                }
                if count > 0 { bytes.append(",") }
                MarkerWriter.write(key: key, into: &bytes)
            }
            return
        }
        let trace = FeatureTrace(from: there, to: here, cancellation)
        let known = next.indexesByNode
        for (count, index) in removed.enumerated() {
            if count % 256 == 0 { try cancellation.stopIfCancelled() }
            let row = shown.rows[index]
            let target = try trace.target(of: row.node).flatMap { known[$0] }
            guard isJSON else {
                writeMessage(removed: row.key, into: target.map { next.rows[$0].key }, &bytes)
                continue
            }
            if count > 0 { bytes.append(",") }
            bytes.append("{\"key\":")
            MarkerWriter.write(key: row.key, into: &bytes)
            if let target {
                bytes.append(",\"into\":")
                MarkerWriter.write(key: next.rows[target].key, into: &bytes)
            }
            bytes.append("}")
        }
    }

    /// Writes a removed marker as a field of the message.
    private func writeMessage(removed key: MarkerKey, into target: MarkerKey?, _ bytes: inout ByteWriter) {
        let start = bytes.beginField(TypedFields.WatchClustersResponse.remove)
        MarkerWriter.write(key: key, as: TypedFields.RemovedMarker.key, into: &bytes)
        if let target { MarkerWriter.write(key: target, as: TypedFields.RemovedMarker.intoKey, into: &bytes) }
        bytes.endField(start)
    }
}
