// SPDX-License-Identifier: MIT

/// Determines on which side of a line a position lies, without rounding errors.
///
/// Computes a quick answer in doubles with an error bound, then uses exact arithmetic on expansions if the bound
/// does not decide (Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
/// Predicates", 1997).
enum Orientation {
    private static let quickBound = (3 + 16 * 0x1p-53) * 0x1p-53

    /// Positive if `a`, `b`, `c` turn left, negative if they turn right, 0 if they are collinear.
    @inline(__always) static func sign(_ a: Position, _ b: Position, _ c: Position) -> Double {
        let left = (a.longitude - c.longitude) * (b.latitude - c.latitude)
        let right = (a.latitude - c.latitude) * (b.longitude - c.longitude)
        let determinant = left - right
        if abs(determinant) > quickBound * (abs(left) + abs(right)) { return determinant }
        return exactSign(a, b, c)
    }

    /// True only if the turn is certainly to the left; cheap, and false in doubt.
    @inline(__always) static func isCertainlyLeft(_ a: Position, _ b: Position, _ c: Position) -> Bool {
        let left = (a.longitude - c.longitude) * (b.latitude - c.latitude)
        let right = (a.latitude - c.latitude) * (b.longitude - c.longitude)
        return left - right > quickBound * (abs(left) + abs(right))
    }

    private static func exactSign(_ a: Position, _ b: Position, _ c: Position) -> Double {
        var sum: [Double] = []
        sum.reserveCapacity(12)
        addProduct(a.longitude, b.latitude, to: &sum)
        addProduct(-a.longitude, c.latitude, to: &sum)
        addProduct(-c.longitude, b.latitude, to: &sum)
        addProduct(-a.latitude, b.longitude, to: &sum)
        addProduct(a.latitude, c.longitude, to: &sum)
        addProduct(c.latitude, b.longitude, to: &sum)
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
