// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

extension Revision {
    /// Writes a cluster's convex hull as a Feature with `revision`.
    ///
    /// - Complexity: O(points × log(points)) the first time. Hulls of large clusters are cached.
    ///
    /// - Parameter window: only points that it contains; without any of them the geometry is null.
    public func writeHull(
        of clusterId: Int64, in view: View, window: ViewRestriction.Window? = nil, into bytes: inout ByteWriter,
        _ cancellation: Cancellation
    ) throws(SourceError) {
        let cluster = try shownCluster(clusterId, in: view, cancellation)
        let leaves = try window.map { (window) throws(SourceError) in
            try self.window(window, in: view, cancellation).leaves(of: cluster) { cancellation.isCancelled }
        }
        let hull: ConvexHull?
        if let leaves {
            try cancellation.stopIfCancelled()
            hull = try self.hull(of: leaves, in: view, cancellation)
        } else {
            hull = try self.hull(of: cluster, in: view, cancellation)
        }
        bytes.append("{\"type\":\"Feature\",\"properties\":{\"cluster_id\":")
        bytes.append(integer: clusterId)
        bytes.append(",\"point_count\":")
        bytes.append(integer: Int64(leaves?.count ?? view.index.pointCount(of: cluster)))
        bytes.append("},\"geometry\":")
        if let hull { HullWriter.write(hull, precision: nil, into: &bytes) } else { bytes.append("null") }
        endAnswer(&bytes)
    }

    /// The convex hull of some points; nil if there are none.
    ///
    /// - Complexity: O(points × log(points)).
    func hull(of points: [PointIndex], in view: View, _ cancellation: Cancellation) throws(SourceError) -> ConvexHull? {
        guard !points.isEmpty else { return nil }
        let positions = try positions(of: points, in: view, cancellation)
        guard let hull = ConvexHull.hull(of: positions, isCancelled: { cancellation.isCancelled }) else {
            throw .cancelled
        }
        return hull
    }

    /// The convex hull of a cluster's points.
    func hull(
        of cluster: ClusterOrdinal, in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> ConvexHull {
        if let kept = ViewAnswerCache.of(view).hulls.hull(of: cluster) {
            shared.hullUses.count(true)
            return kept
        }
        let candidates = view.index.hullCandidates(of: cluster, isCancelled: { cancellation.isCancelled })
        guard let candidates else { throw .cancelled }
        let positions = try positions(of: candidates, in: view, cancellation)
        guard let hull = ConvexHull.hull(of: positions, isCancelled: { cancellation.isCancelled }) else {
            throw .cancelled
        }
        if ViewAnswerCache.of(view).hulls.keep(hull, of: cluster, points: view.index.pointCount(of: cluster)) {
            shared.hullUses.count(false)
        }
        return hull
    }
}

extension Revision {
    /// The number of points that one thread reads at a time.
    private static let pointsPerPart = 32_768

    private func position(of point: PointIndex, in view: View) -> Position {
        let (longitude, latitude) = store.coordinates(view.feature(of: point))
        return Position(longitude: longitude, latitude: latitude)
    }

    /// The positions of points, read from their features' text by several threads if there are many.
    private func positions(
        of points: [PointIndex], in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> [Position] {
        let size = Self.pointsPerPart
        let read = Parallel(.shared, threads: AvailableProcessors.count).map(below: (points.count + size - 1) / size) {
            part in
            if cancellation.isCancelled { return [Position]() }
            let bounds = part * size..<min(points.count, (part + 1) * size)
            return points[bounds].map { position(of: $0, in: view) }
        }
        try cancellation.stopIfCancelled()
        return read.flatMap(\.self)
    }
}

/// Writes hulls as GeoJSON geometries.
enum HullWriter {
    /// The hull of the rounded corners, since rounding may make corners collinear or equal.
    private static func rounded(_ hull: ConvexHull, _ precision: Int) -> ConvexHull {
        let corners =
            switch hull {
            case .point(let position): [position]
            case .line(let first, let last): [first, last]
            case .polygon(let ring): ring
            }
        let positions = corners.map {
            Position(
                longitude: Coordinates.rounded($0.longitude, precision),
                latitude: Coordinates.rounded($0.latitude, precision))
        }
        return ConvexHull.hull(of: positions, isCancelled: { false }) ?? hull
    }

    /// All corners of a hull, of a ring the first one again at the end; longitude before latitude.
    static func coordinates(_ hull: ConvexHull, precision: Int?) -> [Double] {
        let corners =
            switch precision.map({ rounded(hull, $0) }) ?? hull {
            case .point(let position): [position]
            case .line(let first, let last): [first, last]
            case .polygon(let ring): ring
            }
        return corners.flatMap {
            [Coordinates.exact($0.longitude, precision), Coordinates.exact($0.latitude, precision)]
        }
    }

    static func write(_ hull: ConvexHull, precision: Int?, into bytes: inout ByteWriter) {
        switch precision.map({ rounded(hull, $0) }) ?? hull {
        case .point(let position):
            bytes.append("{\"type\":\"Point\",\"coordinates\":")
            Coordinates.write(position.longitude, position.latitude, precision: precision, into: &bytes)
        case .line(let first, let last):
            bytes.append("{\"type\":\"LineString\",\"coordinates\":[")
            Coordinates.write(first.longitude, first.latitude, precision: precision, into: &bytes)
            bytes.append(",")
            Coordinates.write(last.longitude, last.latitude, precision: precision, into: &bytes)
            bytes.append("]")
        case .polygon(let ring):
            bytes.append("{\"type\":\"Polygon\",\"coordinates\":[[")
            for (number, position) in ring.enumerated() {
                if number > 0 { bytes.append(",") }
                Coordinates.write(position.longitude, position.latitude, precision: precision, into: &bytes)
            }
            bytes.append("]]")
        }
        bytes.append("}")
    }
}
