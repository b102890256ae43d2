// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Sources
import SystemSupport

/// Writes the additional properties of clusters that a call requests by `include`.
///
/// All but the expansion zoom read each of the cluster's points.
struct ClusterDetailWriter {
    let revision: Revision
    let view: View
    let output: FeatureOutput
    let cancellation: Cancellation

    func write(_ cluster: ClusterOrdinal, into bytes: inout ByteWriter) throws(SourceError) {
        let include = output.include
        if include.contains(.expansionZoom) {
            bytes.append(",\"expansionZoom\":")
            bytes.append(integer: Int64(view.index.expansionZoom(of: cluster).rawValue))
        }
        if include.contains(.hull) {
            bytes.append(",\"hull\":")
            let hull = try revision.hull(of: cluster, in: view, cancellation)
            HullWriter.write(hull, precision: output.precision, into: &bytes)
        }
        guard !include.isDisjoint(with: [.bounds, .coincident, .anchor, .spider]) else { return }
        writeExtent(of: cluster, into: &bytes)
    }

    /// Writes the offsets of the first points, in the order of `GetLeaves`.
    private func writeSpider(_ count: Int, into bytes: inout ByteWriter) {
        bytes.append(",\"spider\":[")
        for (position, offset) in SpiderOffsets.offsets(of: count).enumerated() {
            bytes.append(position > 0 ? ",[" : "[")
            bytes.append(number: offset.x)
            bytes.append(",")
            bytes.append(number: offset.y)
            bytes.append("]")
        }
        bytes.append("]")
    }

    private func writeExtent(of cluster: ClusterOrdinal, into bytes: inout ByteWriter) {
        let extent = ClusterExtent(of: cluster, in: view, store: revision.store)
        if output.include.contains(.bounds) {
            bytes.append(",\"bbox\":[")
            for (position, number) in [extent.west, extent.south, extent.east, extent.north].enumerated() {
                if position > 0 { bytes.append(",") }
                bytes.append(number: Coordinates.rounded(number, output.precision))
            }
            bytes.append("]")
        }
        if output.include.contains(.coincident) {
            bytes.append(extent.isOnePlace ? ",\"coincident\":true" : ",\"coincident\":false")
        }
        if output.include.contains(.spider), extent.isOnePlace {
            writeSpider(view.index.pointCount(of: cluster), into: &bytes)
        }
        if output.include.contains(.anchor) {
            bytes.append(",\"anchor\":")
            Coordinates.write(
                extent.anchor.longitude, extent.anchor.latitude, precision: output.precision, into: &bytes)
        }
    }
}
