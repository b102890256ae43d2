// SPDX-License-Identifier: MIT
import JSON

/// An aggregated property of clusters: the value of each point, and how these values are folded.
public struct ClusterProperty: Sendable {
    /// Operators that fold without evaluating an expression.
    public enum Operator: String, Sendable {
        case sum = "+"
        case product = "*"
        case greatest = "max"
        case least = "min"
        case all, any
    }

    public enum Folding: Sendable {
        /// As `[operator, ["accumulated"], ["get", name]]`. An initial value is folded in once for each cluster, when it is
        /// shown.
        case simple(Operator, initial: JSONValue?)
        case reduce(Expression)
        /// The mean of the numbers.
        case mean
        /// The count of values that are not null.
        case count
        /// The distinct values, sorted.
        case distinct
        /// The count of each distinct value.
        case histogram
        /// Of the numbers, interpolated linearly; nil for the median alone.
        case quantiles([Double]?)
    }

    /// The most quantiles of one property.
    public static let mostQuantiles = 16

    public let name: String
    public let map: Expression
    public let folding: Folding

    /// Compiles `[operator, map]`, `[reduce, map]`, `[operator, initial, map]` or `["quantiles", [number, …], map]`.
    ///
    /// - Throws: the errors, with their position in the definition.
    public init(name: String, compiling definition: JSONValue) throws(ExpressionCompileFailure) {
        guard case .array(let parts) = definition, (2...3).contains(parts.count) else {
            throw Self.fault("", "must be [operator, map], [reduce, map] or [operator, initial value, map].")
        }
        self.name = name
        map = try Self.compile(parts[parts.count - 1], .map, at: parts.count - 1)
        if parts.count == 3, parts[0] == .string("quantiles") {
            folding = .quantiles(try Self.quantiles(parts[1]))
        } else if parts.count == 3 {
            folding = try Self.withInitial(parts)
        } else if case .string(let text) = parts[0] {
            folding = try Self.folding(text, name)
        } else if let simple = Operator(writtenOut: parts[0], for: name) {
            folding = .simple(simple, initial: nil)
        } else {
            folding = .reduce(try Self.compile(parts[0], .reduce, at: 0))
        }
    }

    private static func folding(_ text: String, _ name: String) throws(ExpressionCompileFailure) -> Folding {
        switch text {
        case "mean": return .mean
        case "count": return .count
        case "distinct": return .distinct
        case "histogram": return .histogram
        case "median": return .quantiles(nil)
        case "quantiles":
            throw fault("", "must be [\"quantiles\", [number from 0 to 1, …], map].")
        default: break
        }
        if let simple = Operator(rawValue: text) { return .simple(simple, initial: nil) }
        do {
            return .reduce(try Expression(compiling: Self.writtenOut(text, name), purpose: .reduce))
        } catch {
            throw fault("[0]", "\"\(text)\" cannot fold values: \(error.errors.first?.message ?? "")")
        }
    }

    private static func quantiles(_ value: JSONValue) throws(ExpressionCompileFailure) -> [Double] {
        guard case .array(let items) = value, (1...mostQuantiles).contains(items.count) else {
            throw fault("[1]", "must be an array of 1 to \(mostQuantiles) numbers from 0 to 1.")
        }
        var quantiles: [Double] = []
        for (place, item) in items.enumerated() {
            guard case .number(let number) = item, (0...1).contains(number) else {
                throw fault("[1][\(place)]", "must be a number from 0 to 1.")
            }
            quantiles.append(number)
        }
        return quantiles
    }

    /// The reduce expression that an operator's name is short for.
    public static func writtenOut(_ text: String, _ name: String) -> JSONValue {
        .array([.string(text), .array([.string("accumulated")]), .array([.string("get"), .string(name)])])
    }

    private static func withInitial(_ parts: [JSONValue]) throws(ExpressionCompileFailure) -> Folding {
        guard case .string(let text) = parts[0], let simple = Operator(rawValue: text) else {
            throw fault("[0]", "with an initial value the operator must be one of +, *, max, min, all, any.")
        }
        switch (simple, parts[1]) {
        case (.all, .bool), (.any, .bool): break
        case (.sum, .number), (.product, .number), (.greatest, .number), (.least, .number): break
        default:
            throw fault(
                "[1]",
                "the initial value must be a \(simple == .all || simple == .any ? "boolean" : "number").")
        }
        return .simple(simple, initial: parts[1])
    }

    private static func compile(
        _ value: JSONValue, _ purpose: ExpressionPurpose, at index: Int
    ) throws(ExpressionCompileFailure) -> Expression {
        do {
            return try Expression(compiling: value, purpose: purpose)
        } catch {
            throw ExpressionCompileFailure(
                errors: error.errors.map { ExpressionError(key: "[\(index)]\($0.key)", message: $0.message) })
        }
    }

    private static func fault(_ key: String, _ message: String) -> ExpressionCompileFailure {
        ExpressionCompileFailure(errors: [ExpressionError(key: key, message: message)])
    }
}

extension ClusterProperty.Operator {
    /// The operator that is short for this reduce expression; nil for other expressions.
    init?(writtenOut reduce: JSONValue, for name: String) {
        guard case .array(let parts) = reduce, case .string(let text)? = parts.first,
            let simple = Self(rawValue: text), reduce == ClusterProperty.writtenOut(text, name)
        else { return nil }
        self = simple
    }

    /// Whether it folds numbers; the others fold booleans.
    public var isNumeric: Bool { self != .all && self != .any }

    /// Folds two numbers.
    @inlinable public func fold(_ a: Double, _ b: Double) -> Double {
        switch self {
        case .sum: a + b
        case .product: a * b
        case .greatest: a < b ? b : a
        case .least: b < a ? b : a
        case .all, .any: a
        }
    }
}
