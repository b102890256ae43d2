// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// Additional properties of a cluster.
public struct ClusterDetails: OptionSet, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The convex hull of its points, a GeoJSON geometry.
    public static let hull = ClusterDetails(rawValue: 1)
    /// The extent of its points. West is greater than east if it crosses the antimeridian.
    public static let bounds = ClusterDetails(rawValue: 2)
    /// The zoom at which it splits into its children.
    public static let expansionZoom = ClusterDetails(rawValue: 4)
    /// Whether all its points coincide.
    public static let coincident = ClusterDetails(rawValue: 8)
    /// The location of the point nearest to its centre.
    public static let anchor = ClusterDetails(rawValue: 16)

    /// The key of the feature that a marker grew from. Points have it too. A member of the feature, not of its
    /// properties.
    public static let key = ClusterDetails(rawValue: 32)
    /// Offsets in pixels at which to draw the points of a cluster whose points are all at one location.
    public static let spider = ClusterDetails(rawValue: 64)
    /// Its point with the greatest or least value of a property.
    public static let top = ClusterDetails(rawValue: 128)

    /// Details that read each of a cluster's points.
    public static let costly: ClusterDetails = [.hull, .bounds, .coincident, .anchor, .spider]

    /// Details that show where single points are.
    public static let showingPoints: ClusterDetails = [.hull, .bounds, .anchor, .spider, .top]

    /// The detail of a name in calls; none if it is unknown.
    public static subscript(name: String) -> ClusterDetails {
        byName.first { $0.name == name }?.detail ?? []
    }

    /// The details by their names in calls.
    package static let byName: [(name: String, detail: ClusterDetails)] = [
        ("hull", .hull), ("bbox", .bounds), ("expansionZoom", .expansionZoom),
        ("coincident", .coincident), ("anchor", .anchor), ("key", .key), ("spider", .spider), ("top", .top),
    ]
}

/// Writes the additional properties of clusters that a call requests by `include`.
///
/// All but the expansion zoom read each of the cluster's points.
struct ClusterDetailWriter {
    let revision: Revision
    let view: View
    let output: FeatureOutput
    let shown: ShownPoints?
    let cancellation: Cancellation

    func write(_ cluster: ClusterOrdinal, into bytes: inout ByteWriter) throws(SourceError) {
        let include = output.include
        if include.contains(.expansionZoom) {
            bytes.append(",\"expansionZoom\":")
            bytes.append(integer: Int64(view.index.expansionZoom(of: cluster).rawValue))
        }
        if include.contains(.hull) {
            bytes.append(",\"hull\":")
            if let hull = try hull(of: cluster) {
                HullWriter.write(hull, precision: output.precision, into: &bytes)
            } else {
                bytes.append("null")
            }
        }
        if include.contains(.top), let point = shown?.top(of: cluster) {
            bytes.append(",\"top\":")
            revision.store.writeParts(
                view.feature(of: point), into: &bytes, selection: output.properties, precision: output.precision)
        }
        guard !include.isDisjoint(with: [.bounds, .coincident, .anchor, .spider]) else { return }
        writeExtent(of: cluster, into: &bytes)
    }

    /// The hull of the points that count; nil if there are none.
    func hull(of cluster: ClusterOrdinal) throws(SourceError) -> ConvexHull? {
        guard let leaves = shown?.leaves(of: cluster) else {
            return try revision.hull(of: cluster, in: view, cancellation)
        }
        return try revision.hull(of: leaves, in: view, cancellation)
    }

    func extent(of cluster: ClusterOrdinal) -> ClusterExtent {
        guard let leaves = shown?.leaves(of: cluster) else {
            return ClusterExtent(of: cluster, view.index.leaves(of: cluster), in: view, store: revision.store)
        }
        return ClusterExtent(of: cluster, leaves, in: view, store: revision.store)
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
        let extent = extent(of: cluster)
        if output.include.contains(.bounds) {
            bytes.append(",\"bbox\":[")
            for (position, number) in [extent.west, extent.south, extent.east, extent.north].enumerated() {
                if position > 0 { bytes.append(",") }
                bytes.append(number: Coordinates.rounded(number, output.precision))
            }
            bytes.append("]")
        }
        if output.include.contains(.coincident) {
            bytes.append(extent.isOneLocation ? ",\"coincident\":true" : ",\"coincident\":false")
        }
        if output.include.contains(.spider), extent.isOneLocation {
            writeSpider(extent.count, into: &bytes)
        }
        if output.include.contains(.anchor) {
            bytes.append(",\"anchor\":")
            Coordinates.write(
                extent.anchor.longitude, extent.anchor.latitude, precision: output.precision, into: &bytes)
        }
    }
}

/// A count as supercluster shortens it: itself below 1000, then `"1k"`, `"1.2k"`, `"12k"`.
enum AbbreviatedCount {
    /// Writes the count as a JSON number or string.
    static func write(_ count: Int, into output: inout ByteWriter) {
        guard count >= 1000 else { return output.append(integer: Int64(count)) }
        output.append("\"")
        if count >= 10_000 {
            output.append(integer: Int64(count / 1000 + (count % 1000 >= 500 ? 1 : 0)))
        } else {
            let tenths = (count + 50) / 100
            output.append(integer: Int64(tenths / 10))
            if tenths % 10 != 0 {
                output.append(".")
                output.append(integer: Int64(tenths % 10))
            }
        }
        output.append("k\"")
    }
}
