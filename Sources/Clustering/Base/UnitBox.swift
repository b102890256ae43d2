// SPDX-License-Identifier: MIT

/// A box of the unit square, its edges included.
struct UnitBox {
    var minimumX: Double
    var minimumY: Double
    var maximumX: Double
    var maximumY: Double

    /// Returns 1 for a position inside, otherwise 0; without a branch.
    @inline(__always) func count(_ x: Double, _ y: Double) -> Int {
        let place = SIMD2(x, y)
        let isInside =
            (place .>= SIMD2(minimumX, minimumY)) .& (place .<= SIMD2(maximumX, maximumY))
        return Int(
            truncatingIfNeeded: SIMD2<Int64>.zero.replacing(with: 1, where: isInside).wrappedSum() &>> 1)
    }
}

extension UnitBox {
    @inline(__always) func contains(_ x: Double, _ y: Double) -> Bool {
        x >= minimumX && x <= maximumX && y >= minimumY && y <= maximumY
    }

    /// The square around a position that reaches `reach` along each axis.
    @inline(__always) init(around x: Double, _ y: Double, reach: Double) {
        self.init(minimumX: x - reach, minimumY: y - reach, maximumX: x + reach, maximumY: y + reach)
    }
}
