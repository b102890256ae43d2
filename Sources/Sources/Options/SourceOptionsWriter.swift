// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

extension SourceOptions {
    /// The options as JSON: what has a default always, the others where they were given.
    ///
    /// Reading the result again gives the same options.
    public var json: JSONValue {
        var object = JSONObject()
        object["radius"] = radius.source
        object["extent"] = .number(Double(extent))
        object["minZoom"] = .number(Double(minZoom))
        object["maxZoom"] = .number(Double(maxZoom))
        object["minPoints"] = .number(Double(minPoints))
        object["generateId"] = .bool(generateId)
        object["precision"] = .string(precision.rawValue)
        if clusterIds != .index { object["clusterIds"] = .string(clusterIds.rawValue) }
        if case .planar(let box) = projection { object["projection"] = ProjectionOption.json(box) }
        // Left out if it is the default: descriptions stay as short as they were.
        if geometries != .point { object["geometries"] = .string(geometries.rawValue) }
        object["promoteId"] = promoteId.map { .string($0) }
        object["ttlSeconds"] = ttlSeconds.map { .number($0) }
        object["filter"] = filter?.source
        object["weight"] = weight?.source
        object["partitionBy"] = partitionBy?.source
        object["sortKey"] = sortKey?.source
        if !clusterProperties.isEmpty {
            var properties = JSONObject()
            for option in clusterProperties { properties[option.name] = option.source }
            object["clusterProperties"] = .object(properties)
        }
        return .object(object)
    }
}
