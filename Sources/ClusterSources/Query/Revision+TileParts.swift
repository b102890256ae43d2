// SPDX-License-Identifier: MIT
import Clustering
import JSON

/// A tile's feature in parts, for encodings other than JSON.
public struct TileFeatureParts {
    public let x: Int64
    public let y: Int64
    /// The id as JSON text, nil where there is none. Valid during the call that lends it.
    public let id: UnsafeRawBufferPointer?
    /// The tags as JSON text: an object or null. Valid during the call that lends it.
    public let tags: UnsafeRawBufferPointer
}

extension Revision {
    /// Lends the features of a tile one by one: the same, in the same order, as `writeTile` writes.
    public func eachTileFeature(
        _ tile: TilePlace, of view: View, _ cancellation: Cancellation, _ body: (TileFeatureParts) -> Void
    ) throws(SourceError) {
        let writer = FeatureWriter(
            revision: self, view: view, output: FeatureOutput(), cancellation: cancellation)
        var id = ByteWriter(capacity: 64)
        var tags = ByteWriter(capacity: 512)
        for (place, feature) in tileFeatures(tile, of: view).enumerated() {
            if place % 256 == 255, cancellation.isCancelled { throw .cancelled }
            id.truncate(to: 0)
            switch feature.node {
            case .cluster(let cluster):
                tags.truncate(to: 0)
                tags.append("{")
                try writer.writeProperties(of: cluster, into: &tags)
                tags.append("}")
                id.append(integer: view.index.id(of: cluster))
                tags.withUnsafeBytes { tags in
                    id.withUnsafeBytes { id in
                        body(TileFeatureParts(x: feature.x, y: feature.y, id: id, tags: tags))
                    }
                }
            case .point(let point):
                writeIdentifier(of: point, in: view, into: &id)
                store.withProperties(view.feature(of: point)) { tags in
                    id.withUnsafeBytes { id in
                        body(
                            TileFeatureParts(
                                x: feature.x, y: feature.y, id: id.isEmpty ? nil : id, tags: tags))
                    }
                }
            }
        }
    }
}
