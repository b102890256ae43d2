// SPDX-License-Identifier: MIT
import Clustering
import Expressions
import JSON

/// The cluster radius: one number for all zooms, or an expression that is evaluated for each zoom.
public struct RadiusOption: Sendable, Equatable {
    /// The option's value as sent: a number or an expression.
    public let source: JSONValue
    /// The radius of each zoom from 0 to `highestZoom`.
    public let byZoom: [Double]

    /// The highest zoom that options may contain.
    public static let highestZoom = ClusteringOptions.deepestZoom

    package static let standard = RadiusOption(constant: 40)

    package init(constant radius: Double) {
        source = .number(radius)
        byZoom = Array(repeating: radius, count: Self.highestZoom + 1)
    }

    private init(source: JSONValue, byZoom: [Double]) {
        self.source = source
        self.byZoom = byZoom
    }

    /// Reads a radius. Rejects a negative number, and an expression that returns one at any zoom.
    package init(reading value: JSONValue, path: String) throws(SourceError) {
        switch value {
        case .number(let radius):
            guard radius.isFinite, radius >= 0 else {
                throw .invalidParameter(path: path, message: "must not be negative")
            }
            self.init(constant: radius)
        case .array:
            let expression = try ExpressionOption.compile(value, expected: .number, purpose: .filter, path: path)
            try self.init(source: value, byZoom: Self.evaluate(expression, path: path))
        default: throw .invalidParameter(path: path, message: "must be a number or an expression of the zoom")
        }
    }

    private static func evaluate(_ expression: Expression, path: String) throws(SourceError) -> [Double] {
        var byZoom: [Double] = []
        for zoom in 0...highestZoom {
            let result = try? expression.evaluate(zoom: Double(zoom))
            guard case .number(let radius)? = result, radius.isFinite, radius >= 0 else {
                throw .invalidParameter(
                    path: path, message: "must give a number that is not negative, and does not at zoom \(zoom)")
            }
            byZoom.append(radius)
        }
        return byZoom
    }
}
