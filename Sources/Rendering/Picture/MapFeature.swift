// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// A cluster or a point on a picture's map.
struct MapFeature {
    let position: PixelPoint
    /// The number of points; 1 for a point.
    let count: Int
    /// The label; nil for a point.
    let label: String?
    let hull: HullShape?

    init(_ feature: Feature, _ frame: PictureFrame) {
        position = frame.pixel(longitude: feature.longitude, latitude: feature.latitude)
        count = max(feature.cluster?.pointCount ?? 1, 1)
        label = feature.cluster?.abbreviatedCount
        hull = feature.properties["hull"].flatMap(HullShape.init)
    }
}
