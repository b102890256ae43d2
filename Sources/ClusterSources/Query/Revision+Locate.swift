// SPDX-License-Identifier: MIT
import Clustering
import JSON

extension Revision {
    /// Writes the cluster or point that shows a feature at a zoom, and the zoom from which it stands alone.
    ///
    /// Where several features have the id, the first counts. The zoom is null where the feature is in a
    /// cluster still at the highest zoom that has clusters.
    public func writeLocation(
        of identifier: FeatureIdentifier, at zoom: Double, in view: View, into bytes: inout ByteWriter,
        isCancelled: () -> Bool
    ) throws(SourceError) {
        let places = try identifierIndex(isCancelled: isCancelled).places(of: identifier, in: store)
        guard let point = places.lazy.compactMap({ view.point(of: $0) }).first else {
            throw .featureNotFound(identifier.description)
        }
        let shown = view.index.node(showing: point, at: view.index.level(for: zoom))
        bytes.append("{\"feature\":")
        FeatureWriter(view: view, store: store, output: FeatureOutput()).write(shown, into: &bytes)
        bytes.append(",\"standsAloneFrom\":")
        if let alone = standsAloneFrom(point, in: view) {
            bytes.append(integer: Int64(alone))
        } else {
            bytes.append("null")
        }
        bytes.append(",\"revision\":")
        bytes.append(integer: Int64(clamping: number))
        bytes.append("}")
    }

    private func standsAloneFrom(_ point: PointIndex, in view: View) -> Int? {
        guard let parent = view.index.parent(of: .point(point)) else { return view.index.options.minimumZoom }
        return view.index.expansionZoom(of: parent).rawValue
    }
}
