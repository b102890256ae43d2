// SPDX-License-Identifier: MIT

/// Determines on which side of a line a position lies, without rounding errors.
///
/// Computes a quick answer in doubles with an error bound, then uses exact arithmetic on expansions if the bound does
/// not decide (Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997).
@usableFromInline package enum Orientation {
    @usableFromInline package typealias Position = SIMD2<Double>

    @inlinable package static var quickBound: Double { (3 + 16 * 0x1p-53) * 0x1p-53 }

    /// Positive if `a`, `b`, `c` turn left, negative if they turn right, 0 if they are collinear.
    @inlinable @inline(__always) package static func sign(_ a: Position, _ b: Position, _ c: Position) -> Double {
        let left = (a.x - c.x) * (b.y - c.y)
        let right = (a.y - c.y) * (b.x - c.x)
        let determinant = left - right
        if abs(determinant) > quickBound * (abs(left) + abs(right)) { return determinant }
        return exactSign(a, b, c)
    }

    /// True only if the turn is certainly to the left; cheap, and false in doubt.
    @inlinable @inline(__always) package static func isCertainlyLeft(
        _ a: Position, _ b: Position, _ c: Position
    ) -> Bool {
        let left = (a.x - c.x) * (b.y - c.y)
        let right = (a.y - c.y) * (b.x - c.x)
        return left - right > quickBound * (abs(left) + abs(right))
    }

    @usableFromInline static func exactSign(_ a: Position, _ b: Position, _ c: Position) -> Double {
        var sum: [Double] = []
        sum.reserveCapacity(12)
        addProduct(a.x, b.y, to: &sum)
        addProduct(-a.x, c.y, to: &sum)
        addProduct(-c.x, b.y, to: &sum)
        addProduct(-a.y, b.x, to: &sum)
        addProduct(a.y, c.x, to: &sum)
        addProduct(c.y, b.x, to: &sum)
        return sum.last { $0 != 0 } ?? 0
    }

    private static func addProduct(_ a: Double, _ b: Double, to sum: inout [Double]) {
        let product = a * b
        grow(&sum, by: (-product).addingProduct(a, b))
        grow(&sum, by: product)
    }

    /// Adds a number to an expansion: numbers in order of size that do not overlap and whose sum is exact.
    private static func grow(_ sum: inout [Double], by value: Double) {
        var carried = value
        for index in sum.indices {
            let total = carried + sum[index]
            let virtual = total - carried
            sum[index] = (carried - (total - virtual)) + (sum[index] - virtual)
            carried = total
        }
        sum.append(carried)
    }
}
