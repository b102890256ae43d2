// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// A cluster's hull as the daemon returns it.
struct HullShape {
    let positions: [(longitude: Double, latitude: Double)]
    let isRing: Bool

    /// Nil if it is neither a polygon nor a line.
    init?(_ geometry: JSONValue) {
        switch geometry["type"]?.asString {
        case "Polygon":
            positions = Self.positions(geometry["coordinates"]?.asArray?.first)
            isRing = true
        case "LineString":
            positions = Self.positions(geometry["coordinates"])
            isRing = false
        default: return nil
        }
    }

    private static func positions(_ list: JSONValue?) -> [(longitude: Double, latitude: Double)] {
        (list?.asArray ?? []).compactMap { position in
            guard let position = position.asArray, position.count >= 2, let longitude = position[0].asNumber,
                let latitude = position[1].asNumber
            else { return nil }
            return (longitude, latitude)
        }
    }
}
