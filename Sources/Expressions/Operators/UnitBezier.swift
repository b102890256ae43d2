// SPDX-License-Identifier: MIT

/// A cubic Bézier curve from (0, 0) to (1, 1), as in CSS: it returns y for an x.
struct UnitBezier: Sendable {
    private let x: Cubic
    private let y: Cubic

    /// The polynomial ((a·t + b)·t + c)·t.
    private struct Cubic: Sendable {
        let a, b, c: Double

        init(_ first: Double, _ second: Double) {
            c = 3 * first
            b = 3 * (second - first) - c
            a = 1 - c - b
        }

        func value(_ t: Double) -> Double { ((a * t + b) * t + c) * t }
        func slope(_ t: Double) -> Double { (3 * a * t + 2 * b) * t + c }
    }

    /// A curve with two control points.
    init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        x = Cubic(x1, x2)
        y = Cubic(y1, y2)
    }

    func solve(_ position: Double) -> Double {
        y.value(parameter(position))
    }

    /// Uses Newton's method, and bisection where the curve is too flat for it.
    private func parameter(_ position: Double) -> Double {
        if position <= 0 { return 0 }
        if position >= 1 { return 1 }
        let precision = 1e-6
        var t = position
        for _ in 0..<8 {
            let error = x.value(t) - position
            if error.magnitude < precision { return t }
            let slope = x.slope(t)
            if slope.magnitude < 1e-6 { break }
            t -= error / slope
        }
        var (low, high) = (0.0, 1.0)
        t = position
        for _ in 0..<60 where (x.value(t) - position).magnitude >= precision {
            if position > x.value(t) { low = t } else { high = t }
            t = low + (high - low) / 2
        }
        return t
    }
}
