// SPDX-License-Identifier: MIT

/// How far a point must be from all others to pass the deepest zooms unchanged.
///
/// At a zoom a node has an effect on others only within the zoom's radius. A cluster's centre lies within its zoom's
/// radius of the node from which it grew, and so on down to a point: that point is no further from the centre than the
/// radii of the cluster's zoom and of all deeper ones together. So a point that has no other within the radii of a zoom
/// and of all deeper ones together has no effect at these zooms; nor has a change of it, if that holds before and after.
struct LoneDistances {
    /// By zoom, from the shallowest at which points may well be alone: a point is alone if the others are further away.
    private let distances: [Double]
    private let deepestZoom: Int

    init(_ options: ClusteringOptions, pointCount: Int) {
        // For each level that a node passes, its position and the centre that it is compared with may be rounded.
        let slack = 8 * Float.roundingSlack + 4 * options.centerSlack
        var distances: [Double] = []
        var sum = slack
        for zoom in stride(from: options.maximumZoom, through: options.minimumZoom, by: -1) {
            sum += options.unitRadius(at: zoom) + slack
            // Of evenly spread points, most have another one within a longer distance.
            guard Double(pointCount) * sum * sum < 0.5 else { break }
            distances.append(sum)
        }
        self.distances = distances.reversed()
        deepestZoom = options.maximumZoom
    }

    /// No other points are looked at.
    var longest: Double { distances.first ?? 0 }

    /// The shallowest zoom whose distance meets a condition that shorter distances meet too, and the distance.
    func zoom(where isMet: (Double) -> Bool) -> (zoom: Int, distance: Double)? {
        distances.firstIndex(where: isMet).map { index in
            (zoom: deepestZoom + 1 - (distances.count - index), distance: distances[index])
        }
    }

    /// The lowest level to which a point passes unchanged if the nearest other one is at a distance.
    ///
    /// - Parameter squared: the square of the distance.
    func level(squared: Double) -> Int {
        let near = distances.prefix { squared <= $0 * $0 }.count
        return deepestZoom + 1 - (distances.count - near)
    }
}
