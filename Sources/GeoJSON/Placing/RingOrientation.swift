// SPDX-License-Identifier: MIT

/// In which direction positions turn, decided exactly.
enum RingOrientation {
    /// Whether a closed ring runs counter-clockwise, by the turn at its highest position; false for a flat
    /// ring.
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
        return turn(low, high, down) > 0
    }

    /// Above 0 if `c` lies to the left of the line from `a` to `b`, below 0 if to its right, else 0.
    static func turn(_ a: GeometryPosition, _ b: GeometryPosition, _ c: GeometryPosition) -> Double {
        let left = (a.longitude - c.longitude) * (b.latitude - c.latitude)
        let right = (a.latitude - c.latitude) * (b.longitude - c.longitude)
        let difference = left - right
        // Shewchuk's bound on the rounding error ("Adaptive Precision Floating-Point Arithmetic", 1997).
        if abs(difference) > 3.3306690738754716e-16 * (abs(left) + abs(right)) { return difference }
        let x = (DoubleDouble(a.longitude, minus: c.longitude), DoubleDouble(b.longitude, minus: c.longitude))
        let y = (DoubleDouble(a.latitude, minus: c.latitude), DoubleDouble(b.latitude, minus: c.latitude))
        let (first, second) = (x.0 * y.1, y.0 * x.1)
        let high = first.high - second.high
        return high != 0 ? high : first.low - second.low
    }
}

/// A number as the sum of two doubles, about 106 bits.
private struct DoubleDouble {
    let high: Double
    let low: Double

    /// The exact difference (Knuth's two-sum).
    init(_ a: Double, minus b: Double) {
        high = a - b
        let part = high - a
        low = (a - (high - part)) - (b + part)
    }

    private init(high: Double, low: Double) {
        self.high = high + low
        self.low = low - (self.high - high)
    }

    static func * (a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
        let product = a.high * b.high
        let error = (-product).addingProduct(a.high, b.high)
        return DoubleDouble(high: product, low: error + (a.high * b.low + a.low * b.high))
    }
}
