// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// Arithmetic with JavaScript's results.
enum MathOperators {
    static let definitions: [String: OperatorDefinition] = {
        var all: [String: Signature] = [
            "+": folding(0) { $0 + $1 }, "*": folding(1) { $0 * $1 },
            "min": folding(.infinity, least), "max": folding(-.infinity, greatest),
            "/": ofTwo { $0 / $1 },
            "%": ofTwo { $0.truncatingRemainder(dividingBy: $1) }, "^": ofTwo(power),
            "pi": constant(.pi), "e": constant(M_E), "ln2": constant(M_LN2),
        ]
        for (name, function) in functions { all[name] = ofOne(function) }
        var definitions = all.mapValues { OperatorDefinition($0) }
        definitions["-"] = OperatorDefinition(ofTwo { $0 - $1 }, ofOne { -$0 })
        return definitions
    }()

    private static let functions: [(String, @Sendable (Double) -> Double)] = [
        ("abs", { $0.magnitude }), ("ceil", { $0.rounded(.up) }), ("floor", { $0.rounded(.down) }),
        ("round", { $0.rounded(.toNearestOrAwayFromZero) }), ("sqrt", { $0.squareRoot() }),
        ("ln", { log($0) }),
        // Computed as quotients, as in MapLibre: `floor(log10(1000))` is 2.
        ("log10", { log($0) / M_LN10 }), ("log2", { log($0) / M_LN2 }), ("sin", { sin($0) }),
        ("cos", { cos($0) }),
        ("tan", { tan($0) }), ("asin", { asin($0) }), ("acos", { acos($0) }), ("atan", { atan($0) }),
    ]

    /// A power as JavaScript defines it: 1 or -1 to the power of an infinity or of NaN is NaN.
    static func power(_ base: Double, _ exponent: Double) -> Double {
        if exponent.isNaN || (exponent.isInfinite && base.magnitude == 1) { return .nan }
        return pow(base, exponent)
    }

    /// The smaller number; -0 is smaller than 0.
    @Sendable static func least(_ a: Double, _ b: Double) -> Double {
        if a.isNaN || b.isNaN { return .nan }
        return a < b || (a == b && a.sign == .minus) ? a : b
    }
    /// The greater number; 0 is greater than -0.
    @Sendable static func greatest(_ a: Double, _ b: Double) -> Double {
        if a.isNaN || b.isNaN { return .nan }
        return a > b || (a == b && a.sign == .plus) ? a : b
    }

    private static func number(_ value: JSONValue) -> Double {
        guard case .number(let number) = value else { return .nan }
        return number
    }

    private static func constant(_ number: Double) -> Signature {
        Signature(.number, .fixed([])) { _, _ throws(EvaluationError) in .number(number) }
    }

    private static func ofOne(_ function: @escaping @Sendable (Double) -> Double) -> Signature {
        Signature(.number, .fixed([.number])) { arguments, _ throws(EvaluationError) in
            .number(function(number(arguments[0])))
        }
    }

    private static func ofTwo(_ function: @escaping @Sendable (Double, Double) -> Double) -> Signature {
        Signature(.number, .fixed([.number, .number])) { arguments, _ throws(EvaluationError) in
            .number(function(number(arguments[0]), number(arguments[1])))
        }
    }

    private static func folding(
        _ start: Double, _ function: @escaping @Sendable (Double, Double) -> Double
    ) -> Signature {
        Signature(.number, .any(.number)) { arguments, _ throws(EvaluationError) in
            .number(arguments.reduce(start) { function($0, number($1)) })
        }
    }
}
