// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Finds the resource that a path names. Pure.
enum Router {
    /// - Parameter path: the path, percent-encoded.
    static func resource(_ path: ArraySlice<UInt8>) throws(RequestFailure) -> Resource {
        if path.elementsEqual("*".utf8) { return .server }
        var segments: [String] = []
        for part in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PercentEncoding.decode(part), !segment.utf8.contains(0) else {
                throw RequestFailure.malformed("The URL's path is malformed: it is not percent-encoded UTF-8.")
            }
            segments.append(segment)
        }
        guard let resource = try resource(segments[...]) else {
            throw RequestFailure(
                .notFound,
                "There is no such resource. /sources lists the sources, and the resources of a source S are /sources/S/tiles.json, tiles/{z}/{x}/{y}.mvt, clusters, top, histogram, grid, features/ID and watch below it. /archives/NAME is an archive of tiles."
            )
        }
        return resource
    }

    private static func resource(_ path: ArraySlice<String>) throws(RequestFailure) -> Resource? {
        guard let first = path.first else { return .map }
        let rest = path.dropFirst()
        switch first {
        case "" where rest.isEmpty: return .map
        case "health" where rest.isEmpty: return .health
        case "metrics" where rest.isEmpty: return .metrics
        case "assets": return rest.isEmpty ? nil : .asset(rest.joined(separator: "/"))
        case "ground": return ground(Array(rest))
        case "archives": return rest.isEmpty ? nil : .archive(Array(rest))
        case "sources":
            guard let name = rest.first else { return .query(.sources, [:]) }
            return name.isEmpty ? nil : try ofSource(name, rest.dropFirst())
        case let service where service.hasPrefix("clusterd.v1."):
            return rest.count == 1 ? .method("\(service)/\(rest.first ?? "")") : nil
        default: return nil
        }
    }

    /// `tiles.json`, or a tile as `Z/X/Y.mvt`.
    private static func ground(_ path: [String]) -> Resource? {
        if path == ["tiles.json"] { return .ground(nil) }
        guard path.count == 3, path[2].hasSuffix(".mvt"), let zoom = Int(path[0]), let x = Int(path[1]),
            let y = Int(path[2].dropLast(4))
        else { return nil }
        return .ground(GroundPlace(zoom: zoom, x: x, y: y))
    }

    private static func ofSource(_ name: String, _ path: ArraySlice<String>) throws(RequestFailure) -> Resource? {
        let params: JSONObject = ["source": .string(name)]
        let rest = Array(path.dropFirst())
        switch (path.first, rest.count) {
        case (nil, _): return .query(.source, params)
        case ("tiles.json"?, 0): return .tileJSON(source: name)
        case ("tiles"?, 3): return tile(rest, params)
        case ("clusters"?, 0): return .query(.clusters, params)
        case ("top"?, 0): return .query(.top, params)
        case ("histogram"?, 0): return .query(.histogram, params)
        case ("clusters"?, 2): return cluster(rest[0], rest[1], params)
        case ("features"?, 0): return .features(source: name)
        case ("features"?, 1) where !rest[0].isEmpty:
            return feature(rest[0], params)
        case ("grid"?, 0): return .query(.grid, params)
        case ("watch"?, 0): return .watch(source: name)
        default: return nil
        }
    }

    private static func tile(_ path: [String], _ params: JSONObject) -> Resource? {
        var params = params
        let query: ResourceQuery
        if path[2].hasSuffix(".mvt") {
            query = .tile
            params["encoding"] = .string("mvt")
        } else if path[2].hasSuffix(".json") {
            query = .tileOfJSON
        } else {
            return nil
        }
        let row = path[2].prefix { $0 != "." }
        guard row.utf8.count + (query.isRaw ? 4 : 5) == path[2].utf8.count else { return nil }
        for (name, text) in zip(["z", "x", "y"], [path[0], path[1], String(row)]) {
            params[name] = NumberText.value(text).map { .number($0) } ?? .string(text)
        }
        return .query(query, params)
    }

    private static func cluster(_ id: String, _ aspect: String, _ params: JSONObject) -> Resource? {
        var params = params
        params["clusterId"] = NumberText.value(id).map { .number($0) } ?? .string(id)
        switch aspect {
        case "children": return .query(.children, params)
        case "leaves": return .query(.leaves, params)
        case "expansion-zoom": return .query(.expansionZoom, params)
        case "hull": return .query(.hull, params)
        default: return nil
        }
    }

    /// Reads a feature's id: a number in JSON's grammar, otherwise a string; text in double quotes is always a string.
    private static func feature(_ id: String, _ params: JSONObject) -> Resource {
        var params = params
        var text: [UInt8] = []
        if let number = NumberText.value(id) {
            params["featureId"] = .number(number)
            text = Array("{\"featureId\":\(id)}".utf8)
        } else if id.utf8.count >= 2, id.utf8.first == UInt8(ascii: "\""), id.utf8.last == UInt8(ascii: "\"") {
            params["featureId"] = .string(String(id.dropFirst().dropLast()))
        } else {
            params["featureId"] = .string(id)
        }
        return .query(.feature, params, text: text)
    }
}
