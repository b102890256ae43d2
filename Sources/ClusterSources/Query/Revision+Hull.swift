// SPDX-License-Identifier: MIT
import Clustering
import JSON

extension Revision {
    /// Writes a cluster's convex hull as a Feature with `revision`.
    ///
    /// - Complexity: O(points × log(points)) the first time; large clusters' hulls are kept.
    public func writeHull(
        of clusterId: Int64, in view: View, into bytes: inout ByteWriter, isCancelled: () -> Bool
    ) throws(SourceError) {
        let cluster = try view.cluster(clusterId)
        let hull = try shape(of: cluster, in: view, isCancelled: isCancelled)
        bytes.append("{\"type\":\"Feature\",\"properties\":{\"cluster_id\":")
        bytes.append(integer: clusterId)
        bytes.append(",\"point_count\":")
        bytes.append(integer: Int64(view.index.pointCount(of: cluster)))
        bytes.append("},\"geometry\":")
        HullWriter.write(hull, precision: nil, into: &bytes)
        bytes.append(",\"revision\":")
        bytes.append(integer: Int64(clamping: number))
        bytes.append("}")
    }

    /// The convex hull of a cluster's points.
    func shape(
        of cluster: ClusterOrdinal, in view: View, isCancelled: () -> Bool
    ) throws(SourceError) -> ConvexHull.Shape {
        if let kept = view.hulls.shape(of: cluster) { return kept }
        var longitudes: [Double] = []
        var latitudes: [Double] = []
        let leaves = view.index.leaves(of: cluster)
        longitudes.reserveCapacity(leaves.count)
        latitudes.reserveCapacity(leaves.count)
        for place in 0..<leaves.count {
            if place & 0xffff == 0, isCancelled() { throw .cancelled }
            let feature = view.feature(of: leaves[place])
            longitudes.append(store.longitude(feature))
            latitudes.append(store.latitude(feature))
        }
        let shape = ConvexHull.hull(longitudes: longitudes, latitudes: latitudes)
        view.hulls.keep(shape, of: cluster, points: leaves.count)
        return shape
    }
}

/// Writes hulls as GeoJSON geometries.
enum HullWriter {
    static func write(_ shape: ConvexHull.Shape, precision: Int?, into bytes: inout ByteWriter) {
        switch shape {
        case .point(let place):
            bytes.append("{\"type\":\"Point\",\"coordinates\":")
            Coordinates.write(place.longitude, place.latitude, precision: precision, into: &bytes)
        case .line(let first, let last):
            bytes.append("{\"type\":\"LineString\",\"coordinates\":[")
            Coordinates.write(first.longitude, first.latitude, precision: precision, into: &bytes)
            bytes.append(",")
            Coordinates.write(last.longitude, last.latitude, precision: precision, into: &bytes)
            bytes.append("]")
        case .polygon(let ring):
            bytes.append("{\"type\":\"Polygon\",\"coordinates\":[[")
            for place in ring {
                Coordinates.write(place.longitude, place.latitude, precision: precision, into: &bytes)
                bytes.append(",")
            }
            if let first = ring.first {
                Coordinates.write(first.longitude, first.latitude, precision: precision, into: &bytes)
            }
            bytes.append("]]")
        }
        bytes.append("}")
    }
}
