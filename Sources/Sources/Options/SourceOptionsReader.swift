// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Expressions
import GeoJSON
import JSON
import SourceStorage
import SystemSupport

extension SourceOptions {
    /// Reads options, compiling their expressions.
    ///
    /// Missing members keep their defaults. A member that is null, of the wrong type, out of its range or of an
    /// unknown name is refused with its path.
    public init(reading value: JSONValue?, path: String = "options") throws(SourceError) {
        self.init()
        guard let value else { return }
        guard case .object(let object) = value else {
            throw .invalidParameter(path: path, message: "must be an object")
        }
        for (name, member) in object.members {
            try read(name, member, path: "\(path).\(name)")
        }
        guard minZoom <= maxZoom else {
            throw .invalidParameter(
                path: "\(path).minZoom", message: "must not be above maxZoom, which is \(maxZoom)")
        }
    }

    private mutating func read(_ name: String, _ value: JSONValue, path: String) throws(SourceError) {
        switch name {
        case "radius": radius = try RadiusOption(reading: value, path: path)
        case "extent": extent = try OptionValue.integer(value, in: 1...Self.largestExtent, path: path)
        case "minZoom": minZoom = try OptionValue.integer(value, in: 0...RadiusOption.highestZoom, path: path)
        case "maxZoom": maxZoom = try OptionValue.integer(value, in: 0...RadiusOption.highestZoom, path: path)
        case "minPoints": minPoints = try OptionValue.integer(value, in: 1...Int(Int32.max), path: path)
        case "generateId": generateId = try OptionValue.boolean(value, path: path)
        case "precision": precision = try OptionValue.precision(value, path: path)
        case "clusterIds": clusterIds = try OptionValue.clusterIds(value, path: path)
        case "projection": projection = try ProjectionOption.read(value, path: path)
        case "promoteId": promoteId = try OptionValue.string(value, path: path)
        case "geometries": geometries = try OptionValue.geometries(value, path: path)
        case "ttlSeconds": ttlSeconds = try OptionValue.positive(value, path: path)
        case "filter": filter = try ExpressionOption.filter(value, path: path)
        case "weight": weight = try ExpressionOption.weight(value, path: path)
        case "partitionBy": partitionBy = try ExpressionOption.partition(value, path: path)
        case "sortKey": sortKey = try ExpressionOption.sortKey(value, path: path)
        case "clusterProperties": clusterProperties = try ExpressionOption.properties(value, path: path)
        default:
            throw .invalidParameter(
                path: path, message: "is no option; there are \(Self.names.joined(separator: ", "))")
        }
    }

    package static let names = [
        "radius", "extent", "minZoom", "maxZoom", "minPoints", "generateId", "clusterProperties", "filter",
        "promoteId", "weight", "partitionBy", "sortKey", "precision", "clusterIds", "projection",
        "geometries",
        "ttlSeconds",
    ]

    /// Far beyond any use; keeps a tile's coordinates within what vector tiles can hold.
    private static let largestExtent = 1 << 24
}

/// Reads single values of options, and says which is wrong.
package enum OptionValue {
    package static func integer(_ value: JSONValue, in range: ClosedRange<Int>, path: String)
        throws(SourceError)
        -> Int
    {
        guard case .number(let number) = value, let integer = Int(exactly: number), range.contains(integer)
        else {
            throw .invalidParameter(
                path: path, message: "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    package static func positive(_ value: JSONValue, path: String) throws(SourceError) -> Double {
        guard case .number(let number) = value, number.isFinite, number > 0 else {
            throw .invalidParameter(path: path, message: "must be a number above 0")
        }
        return number
    }

    package static func boolean(_ value: JSONValue, path: String) throws(SourceError) -> Bool {
        guard case .bool(let flag) = value else {
            throw .invalidParameter(path: path, message: "must be true or false")
        }
        return flag
    }

    package static func string(_ value: JSONValue, path: String) throws(SourceError) -> String {
        guard case .string(let text) = value, !text.isEmpty else {
            throw .invalidParameter(path: path, message: "must be a string that is not empty")
        }
        return text
    }

    package static func geometries(_ value: JSONValue, path: String) throws(SourceError) -> GeometryPlacing {
        guard case .string(let text) = value, let placing = GeometryPlacing(rawValue: text) else {
            let names = GeometryPlacing.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw .invalidParameter(path: path, message: "must be one of \(names)")
        }
        return placing
    }

    package static func clusterIds(_ value: JSONValue, path: String) throws(SourceError) -> ClusterIds {
        guard case .string(let text) = value, let choice = ClusterIds(rawValue: text) else {
            throw .invalidParameter(path: path, message: "must be \"index\" or \"origin\"")
        }
        return choice
    }

    package static func precision(
        _ value: JSONValue, path: String
    ) throws(SourceError) -> ClusteringOptions.Precision {
        guard case .string(let text) = value, let choice = ClusteringOptions.Precision(rawValue: text) else {
            throw .invalidParameter(path: path, message: "must be \"float\", \"fixed\" or \"double\"")
        }
        return choice
    }
}
