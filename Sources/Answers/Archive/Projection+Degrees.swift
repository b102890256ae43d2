// SPDX-License-Identifier: MIT
import Clustering

extension Projection {
    /// The degrees at which a map of the Earth shows a position. Map libraries draw a plane's tiles on the Earth, and archives have
    /// no other bounds.
    package func degrees(x: Double, y: Double) -> (longitude: Double, latitude: Double) {
        guard case .planar = self else { return (x, y) }
        return (
            Mercator.longitude(x: self.x(longitude: x)), Mercator.latitude(y: self.y(latitude: y))
        )
    }
}
