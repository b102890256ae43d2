// SPDX-License-Identifier: MIT
import JSON

/// How values between two stops are found.
enum Interpolation: Sendable {
    /// By powers of a base; base 1 is linear.
    case exponential(base: Double)
    case cubicBezier(UnitBezier)

    /// How far a value is from the lower stop to the upper, 0 to 1.
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

/// `step` and `interpolate`.
extension ParsingContext {
    func parseStep(_ items: [JSONValue]) -> Node? {
        guard items.count - 1 >= 4 else {
            return fail("Expected at least 4 arguments, but found only \(items.count - 1).")
        }
        guard (items.count - 1) % 2 == 0 else { return fail("Expected an even number of arguments.") }
        guard let input = parse(items[1], 1, expecting: .number) else { return nil }
        var type = outputType
        var stops: [Double] = []
        var outputs: [Node] = []
        for place in stride(from: 1, to: items.count - 1, by: 2) {
            let label: JSONValue = place == 1 ? .number(-.infinity) : items[place]
            guard let stop = stop(label, place, "step", after: stops.last),
                let output = parse(items[place + 1], place + 1, expecting: type)
            else { return nil }
            type = type ?? output.type
            stops.append(stop)
            outputs.append(output)
        }
        return Node(type ?? .value, .step(stops: stops), [input] + outputs)
    }

    func parseInterpolate(_ items: [JSONValue]) -> Node? {
        guard let interpolation = parseInterpolation(items.count > 1 ? items[1] : .null) else { return nil }
        guard items.count - 1 >= 4 else {
            return fail("Expected at least 4 arguments, but found only \(items.count - 1).")
        }
        guard (items.count - 1) % 2 == 0 else { return fail("Expected an even number of arguments.") }
        guard let input = parse(items[2], 2, expecting: .number) else { return nil }
        var type = outputType
        var stops: [Double] = []
        var outputs: [Node] = []
        for place in stride(from: 3, to: items.count - 1, by: 2) {
            guard let stop = stop(items[place], place, "interpolate", after: stops.last),
                let output = parse(items[place + 1], place + 1, expecting: type)
            else { return nil }
            type = type ?? output.type
            stops.append(stop)
            outputs.append(output)
        }
        let output = type ?? .value
        guard output.isInterpolatable else {
            return fail("Type \(output.name) is not interpolatable.")
        }
        return Node(output, .interpolate(interpolation, stops: stops), [input] + outputs)
    }

    private func stop(_ label: JSONValue, _ place: Int, _ name: String, after last: Double?) -> Double? {
        guard case .number(let stop) = label else {
            note(
                "Input/output pairs for \"\(name)\" expressions must be defined using literal numeric values "
                    + "(not computed expressions) for the input values.", [place])
            return nil
        }
        if let last, last >= stop {
            note(
                "Input/output pairs for \"\(name)\" expressions must be arranged with input values in strictly "
                    + "ascending order.", [place])
            return nil
        }
        return stop
    }

    private func parseInterpolation(_ value: JSONValue) -> Interpolation? {
        guard case .array(let items) = value, let name = items.first else {
            note("Expected an interpolation type expression.", [1])
            return nil
        }
        switch name {
        case .string("linear"): return .exponential(base: 1)
        case .string("exponential"):
            if items.count > 1, case .number(let base) = items[1] { return .exponential(base: base) }
            note("Exponential interpolation requires a numeric base.", [1, 1])
        case .string("cubic-bezier"):
            let points = items.dropFirst().compactMap { item -> Double? in
                guard case .number(let number) = item, (0...1).contains(number) else { return nil }
                return number
            }
            if points.count == 4, items.count == 5 {
                return .cubicBezier(UnitBezier(points[0], points[1], points[2], points[3]))
            }
            note(
                "Cubic bezier interpolation requires four numeric arguments with values between 0 and 1.", [1]
            )
        default: note("Unknown interpolation type \(Conversion.javaScriptText(name))", [1, 0])
        }
        return nil
    }
}

extension ExpressionType {
    /// Numbers, and arrays of a known count of them.
    fileprivate var isInterpolatable: Bool {
        if case .array(.number, _?) = self { return true }
        return self == .number
    }
}

extension EvaluationContext {
    func step(_ stops: [Double], _ arguments: [Node]) throws(EvaluationError) -> JSONValue {
        let value = try number(arguments[0])
        return try evaluate(arguments[1 + Self.place(of: value, in: stops)])
    }

    func interpolate(
        _ interpolation: Interpolation, _ stops: [Double], _ arguments: [Node]
    ) throws(EvaluationError) -> JSONValue {
        // As in MapLibre, the input does not matter then.
        if stops.count == 1 { return try evaluate(arguments[1]) }
        let value = try number(arguments[0])
        let place = try Self.place(of: value, in: stops)
        if value <= stops[0] || place == stops.count - 1 { return try evaluate(arguments[1 + place]) }
        let factor = interpolation.factor(value, stops[place], stops[place + 1])
        let (lower, upper) = (try evaluate(arguments[1 + place]), try evaluate(arguments[2 + place]))
        return Self.between(lower, upper, factor)
    }

    private static func between(_ lower: JSONValue, _ upper: JSONValue, _ factor: Double) -> JSONValue {
        switch (lower, upper) {
        case (.number(let a), .number(let b)): .number(a * (1 - factor) + b * factor)
        case (.array(let a), .array(let b)): .array(zip(a, b).map { between($0, $1, factor) })
        default: lower
        }
    }

    /// The last stop at or below a value; the first where all are above.
    private static func place(of value: Double, in stops: [Double]) throws(EvaluationError) -> Int {
        guard stops.count > 1 else { return 0 }
        guard !value.isNaN else { throw EvaluationError("Input is not a number.") }
        var (low, high) = (0, stops.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if stops[middle] <= value { low = middle } else { high = middle }
        }
        return low
    }
}
