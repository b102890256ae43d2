// SPDX-License-Identifier: MIT

/// How to compute values between two stops of `interpolate`.
enum Interpolation: Sendable {
    /// By powers of a base; base 1 is linear.
    case exponential(base: Double)
    case cubicBezier(UnitBezier)

    /// The fraction of the way from the lower to the upper stop at which a value is, 0 to 1.
    func factor(_ value: Double, _ lower: Double, _ upper: Double) -> Double {
        switch self {
        case .exponential(let base): Self.exponential(value, base, lower, upper)
        case .cubicBezier(let curve): curve.solve(Self.exponential(value, 1, lower, upper))
        }
    }

    private static func exponential(_ value: Double, _ base: Double, _ lower: Double, _ upper: Double)
        -> Double
    {
        let (difference, progress) = (upper - lower, value - lower)
        if difference == 0 { return 0 }
        if base == 1 { return progress / difference }
        return (MathOperators.power(base, progress) - 1) / (MathOperators.power(base, difference) - 1)
    }
}
