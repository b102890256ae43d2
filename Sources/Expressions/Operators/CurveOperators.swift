// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// `step` and `interpolate`.
enum CurveOperators {
    static let definitions: [String: OperatorDefinition] = [
        "step": OperatorDefinition { context, _, items in step(context, items) },
        "interpolate": OperatorDefinition { context, _, items in interpolate(context, items) },
    ]

    /// Pairs of stops and outputs.
    private struct Curve {
        var stops: [Double] = []
        var outputs: [ExpressionNode] = []
        var type: ExpressionType?
    }

    private static func step(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard hasPairs(context, items), let input = context.parse(items[1], 1, expecting: .number),
            let curve = curve(context, "step", items, from: 1)
        else { return nil }
        let stops = curve.stops
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            let value = try context.number(arguments[0])
            return try context.evaluate(arguments[1 + lastStop(atOrBelow: value, in: stops)])
        }
        return ExpressionNode(curve.type ?? .value, .lazy(evaluate), [input] + curve.outputs)
    }

    private static func interpolate(_ context: ParsingContext, _ items: [JSONValue]) -> ExpressionNode? {
        guard let interpolation = interpolation(context, items.count > 1 ? items[1] : .null),
            hasPairs(context, items), let input = context.parse(items[2], 2, expecting: .number),
            let curve = curve(context, "interpolate", items, from: 3)
        else { return nil }
        let type = curve.type ?? .value
        guard isInterpolatable(type) else {
            return context.fail("Type \(type.name) is not interpolatable.")
        }
        let stops = curve.stops
        let evaluate: Operation.EvaluateLazily = { arguments, context throws(EvaluationError) in
            // As in MapLibre, the input is irrelevant then.
            if stops.count == 1 { return try context.evaluate(arguments[1]) }
            let value = try context.number(arguments[0])
            let index = try lastStop(atOrBelow: value, in: stops)
            if value <= stops[0] || index == stops.count - 1 {
                return try context.evaluate(arguments[1 + index])
            }
            let factor = interpolation.factor(value, stops[index], stops[index + 1])
            let lower = try context.evaluate(arguments[1 + index])
            return between(lower, try context.evaluate(arguments[2 + index]), factor)
        }
        return ExpressionNode(type, .lazy(evaluate), [input] + curve.outputs)
    }

    private static func hasPairs(_ context: ParsingContext, _ items: [JSONValue]) -> Bool {
        if items.count - 1 < 4 {
            context.note("Expected at least 4 arguments, but found only \(items.count - 1).")
        } else if (items.count - 1) % 2 != 0 {
            context.note("Expected an even number of arguments.")
        } else {
            return true
        }
        return false
    }

    /// Parses stops and their outputs; the item at index 1, before the first output of `step`, is not a stop.
    private static func curve(
        _ context: ParsingContext, _ name: String, _ items: [JSONValue], from start: Int
    ) -> Curve? {
        var curve = Curve(type: context.outputType)
        for index in stride(from: start, to: items.count - 1, by: 2) {
            let label: JSONValue = index == 1 ? .number(-.infinity) : items[index]
            guard let stop = stop(context, label, index, name, after: curve.stops.last),
                let output = context.parse(items[index + 1], index + 1, expecting: curve.type)
            else { return nil }
            curve.type = curve.type ?? output.type
            curve.stops.append(stop)
            curve.outputs.append(output)
        }
        return curve
    }

    private static func stop(
        _ context: ParsingContext, _ label: JSONValue, _ index: Int, _ name: String, after last: Double?
    ) -> Double? {
        let pairs = "Input/output pairs for \"\(name)\" expressions must be"
        guard case .number(let stop) = label else {
            context.note(
                "\(pairs) defined using literal numeric values (not computed expressions) for the input values.",
                [index])
            return nil
        }
        if let last, last >= stop {
            context.note("\(pairs) arranged with input values in strictly ascending order.", [index])
            return nil
        }
        return stop
    }

    private static func interpolation(_ context: ParsingContext, _ value: JSONValue) -> Interpolation? {
        guard case .array(let items) = value, let name = items.first else {
            context.note("Expected an interpolation type expression.", [1])
            return nil
        }
        switch name {
        case .string("linear"): return .exponential(base: 1)
        case .string("exponential"):
            if items.count > 1, case .number(let base) = items[1] { return .exponential(base: base) }
            context.note("Exponential interpolation requires a numeric base.", [1, 1])
        case .string("cubic-bezier"):
            let points = items.dropFirst().compactMap { item -> Double? in
                guard case .number(let number) = item, (0...1).contains(number) else { return nil }
                return number
            }
            if points.count == 4, items.count == 5 {
                return .cubicBezier(UnitBezier(points[0], points[1], points[2], points[3]))
            }
            context.note("Cubic bezier interpolation requires four numeric arguments with values between 0 and 1.", [1])
        default: context.note("Unknown interpolation type \(Conversion.javaScriptText(name))", [1, 0])
        }
        return nil
    }

    /// Whether values can be interpolated: numbers, and arrays of a known count of them.
    private static func isInterpolatable(_ type: ExpressionType) -> Bool {
        if case .array(.number, _?) = type { return true }
        return type == .number
    }

    private static func between(_ lower: JSONValue, _ upper: JSONValue, _ factor: Double) -> JSONValue {
        switch (lower, upper) {
        case (.number(let a), .number(let b)): .number(a + factor * (b - a))
        case (.array(let a), .array(let b)): .array(zip(a, b).map { between($0, $1, factor) })
        default: lower
        }
    }

    /// The index of the last stop at or below a value, or of the first stop if all are above.
    private static func lastStop(atOrBelow value: Double, in stops: [Double]) throws(EvaluationError) -> Int {
        guard stops.count > 1 else { return 0 }
        guard !value.isNaN else { throw EvaluationError("Input is not a number.") }
        return max(0, stops.partitionIndex { $0 <= value } - 1)
    }
}

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

    private static func exponential(_ value: Double, _ base: Double, _ lower: Double, _ upper: Double) -> Double {
        let (difference, progress) = (upper - lower, value - lower)
        if difference == 0 { return 0 }
        if base == 1 { return progress / difference }
        return (MathOperators.power(base, progress) - 1) / (MathOperators.power(base, difference) - 1)
    }
}

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

    func solve(_ position: Double) -> Double { y.value(parameter(position)) }

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
