// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import Synchronization
import SystemSupport
import VectorTile

extension Revision {
    /// Appends a tile as a Mapbox Vector Tile: one layer, and no bytes if the tile has no features.
    ///
    /// Features, positions, tags and ids are those of `writeTile`. Ids that are not integers from 0 up are left
    /// out, since a vector tile allows no others.
    public func appendVectorTile(
        _ tile: TileAddress, of view: View, layer: String, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        try EncoderPool.shared.lend { (encoder) throws(SourceError) in
            encoder.begin(layer: layer, extent: UInt32(clamping: options.extent))
            let room = bytes.room
            try eachTileFeature(tile, of: view, output: output, cancellation) { feature in
                // A tile that does not fit is refused, so the rest of it needs no memory.
                guard encoder.byteCount <= room else { return }
                switch feature.content {
                case .cluster(let cluster, let count):
                    encoder.feature(x: feature.x, y: feature.y, id: UInt64(exactly: cluster.id))
                    encoder.clusterTags(id: cluster.id, pointCount: cluster.pointCount, abbreviatedCount: count)
                case .other(let id, let tags):
                    encoder.feature(x: feature.x, y: feature.y, id: id.flatMap(TileIdentifier.parse))
                    encoder.tags(json: tags)
                }
            }
            let start = bytes.count
            encoder.finish(into: &bytes)
            return bytes.count - start
        }
    }
}

/// A pool of tile encoders for reuse. Making their tables takes a tenth of a tile's work. Safe from any thread.
final class EncoderPool: Sendable {
    static let shared = EncoderPool()

    private let idle = Mutex<[Holder]>([])
    /// The number in use at the same time on most machines.
    private static let capacity = 8
    /// An encoder keeps the memory of its largest tile. Encoders that wrote larger tiles are freed.
    private static let largestTile = 64 << 10

    /// Only the thread that took it from the pool uses it, so it may be sent.
    private final class Holder: @unchecked Sendable {
        var encoder = VectorTileEncoder()
    }

    /// Lends an encoder to `body`, which writes one tile.
    ///
    /// - Parameter body: returns the tile's size in bytes.
    func lend<Failure: Error>(_ body: (inout VectorTileEncoder) throws(Failure) -> Int) throws(Failure) {
        let holder = idle.withLock { $0.popLast() } ?? Holder()
        guard try body(&holder.encoder) <= Self.largestTile else { return }
        idle.withLock { idle in
            if idle.count < Self.capacity { idle.append(holder) }
        }
    }
}

extension Revision {
    /// Lends the features of a tile one by one, in the order of `writeTile`.
    public func eachTileFeature(
        _ tile: TileAddress, of view: View, output: FeatureOutput = FeatureOutput(),
        _ cancellation: Cancellation, _ body: (TileFeatureParts) -> Void
    ) throws(SourceError) {
        let shown = try shown(
            output.restriction, in: view, at: view.index.level(for: Double(tile.z)), cancellation)
        let writer = FeatureWriter(
            revision: self, view: view, output: output, shown: shown, cancellation: cancellation)
        let keys = output.include.contains(.key) ? try FeatureKeys(self, view, cancellation) : nil
        let interval = output.checkInterval
        var text = ByteWriter(capacity: 512)
        for (position, feature) in tileFeatures(tile, of: view, shown: shown).enumerated() {
            if position % interval == interval - 1, cancellation.isCancelled { throw .cancelled }
            text.truncate(to: 0)
            switch feature.node {
            case .cluster(let cluster) where writer.hasExtras:
                text.append(integer: writer.id(of: cluster))
                let end = text.count
                text.append("{")
                try writer.writeProperties(of: cluster, into: &text)
                text.append("}")
                Self.lend(&text, tagsFrom: end, keys?.key(of: feature.node), feature, body)
            case .cluster(let cluster):
                var summary = view.index.summary(of: cluster)
                summary.id = writer.id(of: cluster, summary)
                AbbreviatedCount.write(summary.pointCount, into: &text)
                text.withUnsafeBytes { count in
                    let content = TileFeatureParts.Content.cluster(summary, abbreviatedCount: count)
                    body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
                }
            case .point(let point) where output.properties == nil && keys == nil && writer.mark(of: point) == nil:
                lend(point, feature, writer, &text, body)
            case .point(let point):
                if hasTileIdentifier(point, in: view) { writeIdentifier(of: point, in: view, into: &text) }
                let end = text.count
                store.writeProperties(
                    view.feature(of: point), into: &text, selection: output.properties, mark: writer.mark(of: point))
                Self.lend(&text, tagsFrom: end, keys?.key(of: feature.node), feature, body)
            }
        }
    }

    /// Lends a feature whose id, if it has one, and tags stand in a text.
    ///
    /// - Parameter key: is added to the tags.
    private static func lend(
        _ text: inout ByteWriter, tagsFrom end: Int, _ key: MarkerKey?, _ feature: TileFeature,
        _ body: (TileFeatureParts) -> Void
    ) {
        if let key { append(key, toTags: &text, from: end) }
        text.withUnsafeBytes { text in
            let content = TileFeatureParts.Content.other(
                id: end > 0 ? UnsafeRawBufferPointer(rebasing: text[..<end]) : nil,
                tags: UnsafeRawBufferPointer(rebasing: text[end...]))
            body(TileFeatureParts(x: feature.x, y: feature.y, content: content))
        }
    }

    /// Lends a point as it is stored.
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
}

/// A tile's feature in parts, for encodings other than JSON.
public struct TileFeatureParts {
    public let x: Int64
    public let y: Int64
    public let content: Content

    /// A feature's content. Texts are valid only during the call that lends them.
    public enum Content {
        /// A cluster with only the four built-in tags. The abbreviated count is a JSON number or string.
        case cluster(ClusterSummary, abbreviatedCount: UnsafeRawBufferPointer)
        /// Any other feature, also a cluster with more tags, whose count is among them: the id as JSON text, nil if
        /// there is none, and the tags as JSON text, an object or null.
        case other(id: UnsafeRawBufferPointer?, tags: UnsafeRawBufferPointer)
    }
}
