// SPDX-License-Identifier: MIT
import SystemSupport

/// In which direction rings turn, decided exactly.
enum RingOrientation {
    /// Whether a closed ring runs counter-clockwise, by the turn at its highest position; false for a flat ring.
    ///
    /// Source: `Orientation.isCCW` of JTS, which also decides for rings that cross themselves.
    static func isCounterClockwise(_ ring: [GeometryPosition]) -> Bool {
        let count = ring.count - 1
        guard count >= 3 else { return false }
        var (high, low, top) = (ring[0], ring[0], 0)
        var previous = ring[0].latitude
        for next in 1...count {
            let latitude = ring[next].latitude
            if latitude > previous, latitude >= high.latitude {
                (high, low, top) = (ring[next], ring[next - 1], next)
            }
            previous = latitude
        }
        guard top > 0 else { return false }
        var after = top
        repeat { after = (after + 1) % count } while after != top && ring[after].latitude == high.latitude
        let down = ring[after]
        let end = ring[after > 0 ? after - 1 : count - 1]
        // A cap that is flat runs west in a counter-clockwise ring.
        guard high == end else { return end.longitude < high.longitude }
        if low == high || down == high || low == down { return false }
        return Orientation.sign(low.plane, high.plane, down.plane) > 0
    }
}

extension GeometryPosition {
    fileprivate var plane: SIMD2<Double> { SIMD2(longitude, latitude) }
}
