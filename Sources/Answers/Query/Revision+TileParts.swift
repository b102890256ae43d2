// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import Sources
import SystemSupport

extension Revision {
    /// Lends the features of a tile one by one, in the order of `writeTile`.
    public func eachTileFeature(
        _ tile: TilePlace, of view: View, output: FeatureOutput = FeatureOutput(),
        _ cancellation: Cancellation, _ body: (TileFeatureParts) -> Void
    ) throws(SourceError) {
        let writer = FeatureWriter(
            revision: self, view: view, output: output, cancellation: cancellation)
        let keys = output.include.contains(.key) ? try FeatureKeys(self, view, cancellation) : nil
        let interval = output.checkInterval
        var text = ByteWriter(capacity: 512)
        for (position, feature) in tileFeatures(tile, of: view).enumerated() {
            if position % interval == interval - 1, cancellation.isCancelled { throw .cancelled }
            text.truncate(to: 0)
            switch feature.node {
            case .cluster(let cluster) where writer.hasExtras:
                try lend(cluster, feature, keys?.key(of: feature.node), writer, &text, body)
            case .cluster(let cluster):
                var summary = view.index.summary(of: cluster)
                summary.id = writer.id(of: cluster, summary)
                AbbreviatedCount.write(summary.pointCount, into: &text)
                text.withUnsafeBytes { count in
                    let content = TileFeatureParts.Content.cluster(summary, abbreviatedCount: count)
                    body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
                }
            case .point(let point):
                if writer.output.properties == nil, keys == nil {
                    lend(point, feature, writer, &text, body)
                } else {
                    lendCopy(point, feature, keys?.key(of: feature.node), writer, &text, body)
                }
            }
        }
    }

    private func lend(
        _ cluster: ClusterOrdinal, _ feature: TileFeature, _ key: MarkerKey?, _ writer: FeatureWriter,
        _ text: inout ByteWriter, _ body: (TileFeatureParts) -> Void
    ) throws(SourceError) {
        text.append(integer: writer.id(of: cluster))
        let end = text.count
        text.append("{")
        try writer.writeProperties(of: cluster, into: &text)
        text.append("}")
        if let key { Self.append(key, toTags: &text, from: end) }
        text.withUnsafeBytes { text in
            let content = TileFeatureParts.Content.other(
                id: UnsafeRawBufferPointer(rebasing: text[..<end]),
                tags: UnsafeRawBufferPointer(rebasing: text[end...]))
            body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
        }
    }

    private func lend(
        _ point: PointIndex, _ feature: TileFeature, _ writer: FeatureWriter, _ text: inout ByteWriter,
        _ body: (TileFeatureParts) -> Void
    ) {
        store.withIdentifierAndProperties(writer.view.feature(of: point)) { id, tags in
            guard options.generateId else {
                let content = TileFeatureParts.Content.other(id: id, tags: tags)
                return body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
            }
            writeIdentifier(of: point, in: writer.view, into: &text)
            text.withUnsafeBytes { id in
                let content = TileFeatureParts.Content.other(id: id, tags: tags)
                body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
            }
        }
    }

    /// Adds a key to tags, which are the text of an object or null.
    private static func append(_ key: MarkerKey, toTags text: inout ByteWriter, from start: Int) {
        let isObject = text.withUnsafeBytes { $0.count > start && $0[start] == UInt8(ascii: "{") }
        let isEmpty = !isObject || text.count - start == 2
        text.truncate(to: isObject ? text.count - 1 : start)
        if !isObject { text.append("{") }
        text.append(isEmpty ? "\"key\":" : ",\"key\":")
        MarkerWriter.write(key: key, into: &text)
        text.append("}")
    }

    /// Lends a point with some of its properties, or with its key among them.
    private func lendCopy(
        _ point: PointIndex, _ feature: TileFeature, _ key: MarkerKey?, _ writer: FeatureWriter,
        _ text: inout ByteWriter, _ body: (TileFeatureParts) -> Void
    ) {
        if hasTileIdentifier(point, in: writer.view) {
            writeIdentifier(of: point, in: writer.view, into: &text)
        }
        let end = text.count
        store.writeProperties(
            writer.view.feature(of: point), into: &text, selection: writer.output.properties)
        if let key { Self.append(key, toTags: &text, from: end) }
        text.withUnsafeBytes { text in
            let content = TileFeatureParts.Content.other(
                id: end > 0 ? UnsafeRawBufferPointer(rebasing: text[..<end]) : nil,
                tags: UnsafeRawBufferPointer(rebasing: text[end...]))
            body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
        }
    }
}
