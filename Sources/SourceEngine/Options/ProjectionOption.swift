// SPDX-License-Identifier: MIT
import Clustering
import JSON

/// Reads and writes the option `projection`: `"mercator"`, or `{"planar": [minX, minY, maxX, maxY]}`.
enum ProjectionOption {
    static func read(_ value: JSONValue, path: String) throws(SourceError) -> Projection {
        switch value {
        case .string("mercator"): return .mercator
        case .object(let object) where object.members.map(\.0) == ["planar"]:
            return .planar(try box(object["planar"] ?? .null, path: "\(path).planar"))
        default:
            throw .invalidParameter(
                path: path, message: "must be \"mercator\" or {\"planar\": [minX, minY, maxX, maxY]}")
        }
    }

    private static func box(_ value: JSONValue, path: String) throws(SourceError) -> PlanarBox {
        guard case .array(let values) = value, values.count == 4 else {
            throw .invalidParameter(path: path, message: "must be [minX, minY, maxX, maxY]")
        }
        var edges: [Double] = []
        for (index, value) in values.enumerated() {
            guard case .number(let edge) = value, edge.isFinite else {
                throw .invalidParameter(path: "\(path)[\(index)]", message: "must be a number")
            }
            edges.append(edge)
        }
        for axis in 0..<2 where edges[axis] >= edges[axis + 2] {
            throw .invalidParameter(path: "\(path)[\(axis + 2)]", message: "must be above \(["minX", "minY"][axis])")
        }
        guard
            let box = PlanarBox(
                minimumX: edges[0], minimumY: edges[1], maximumX: edges[2], maximumY: edges[3])
        else { throw .invalidParameter(path: path, message: "must have sides of finite length") }
        return box
    }

    static func json(_ box: PlanarBox) -> JSONValue {
        var object = JSONObject()
        object["planar"] = .array([
            .number(box.minimumX), .number(box.minimumY), .number(box.maximumX), .number(box.maximumY),
        ])
        return .object(object)
    }
}
