// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Protobuf
import SourceEngine
import SystemSupport
import TypedFeatures

extension Revision {
    /// Writes the cluster or point that shows a feature at a zoom, and the zoom from which it stands alone.
    ///
    /// If several features have the id, the first one in the view is used. A feature that is in a cluster at the
    /// highest zoom with clusters stands alone from the next zoom on.
    public func writeLocation(
        of identifier: FeatureIdentifier, at zoom: Double, in view: View, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        // Many features may have one id. Those after the first one in the view need not be examined.
        var shownPoint: PointIndex?
        _ = try identifierIndex(cancellation).firstRow(of: identifier, in: store) {
            shownPoint = view.point(of: $0)
            return shownPoint != nil || cancellation.isCancelled
        }
        try cancellation.stopIfCancelled()
        guard let point = shownPoint else { throw .featureNotFound(identifier.description) }
        let shown = view.index.node(showing: point, at: view.index.level(for: zoom))
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        if let structProperties = output.form.structProperties {
            typealias Fields = TypedFields.LocateFeatureResponse
            try writer.writeMessage(shown, as: Fields.feature, structProperties, into: &bytes)
            bytes.append(field: Fields.standsAloneFrom, varint: UInt64(standsAloneFrom(point, in: view)))
            return endAnswer(&bytes, form: output.form)
        }
        bytes.append("{\"feature\":")
        try writer.write(shown, into: &bytes)
        bytes.append(",\"standsAloneFrom\":")
        bytes.append(integer: Int64(standsAloneFrom(point, in: view)))
        endAnswer(&bytes)
    }

    private func standsAloneFrom(_ point: PointIndex, in view: View) -> Int {
        guard let parent = view.index.parent(of: .point(point)) else { return view.index.options.minimumZoom }
        return view.index.expansionZoom(of: parent).rawValue
    }
}
