// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Typed calls of `ClusterService`. Params of a method for which a function has no argument are passed in
/// `extra`, under their names on the wire (`filter`, `properties`, `precision`, `include`, `window`, `pin`, `topBy`,
/// `revision`).
extension Client {
    /// The clusters and points in a box at a zoom.
    ///
    /// - Parameter limit: the maximum number of features to return; `isTruncated` says whether there are more.
    public func clusters(
        of source: String, in box: BoundingBox, zoom: Double, limit: Int? = nil, extra: JSONObject = [:],
        options: CallOptions = .init()
    ) async throws -> FeatureCollection {
        var params: JSONObject = ["source": .string(source), "bbox": box.json, "zoom": .number(zoom)]
        params["limit"] = limit.map { .number(Double($0)) }
        return try FeatureCollection(
            try await call("ClusterService/GetClusters", CallParams(params.with(extra)), options: options))
    }

    /// A cluster's children at the next zoom.
    public func children(
        of cluster: Int64, source: String, extra: JSONObject = [:], options: CallOptions = .init()
    ) async throws -> FeatureCollection {
        let params = Client.params(source, cluster).with(extra)
        return try FeatureCollection(try await call("ClusterService/GetChildren", CallParams(params), options: options))
    }

    /// A page of a cluster's points; a limit of 0 returns all.
    public func leaves(
        of cluster: Int64, source: String, limit: Int = 10, offset: Int = 0, extra: JSONObject = [:],
        options: CallOptions = .init()
    ) async throws -> FeatureCollection {
        var params = Client.params(source, cluster)
        params["limit"] = .number(Double(limit))
        params["offset"] = .number(Double(offset))
        return try FeatureCollection(
            try await call("ClusterService/GetLeaves", CallParams(params.with(extra)), options: options))
    }

    /// The zoom at which a cluster splits.
    public func expansionZoom(
        of cluster: Int64, source: String, extra: JSONObject = [:], options: CallOptions = .init()
    ) async throws -> Int {
        let params = Client.params(source, cluster).with(extra)
        let answer = try await call("ClusterService/GetClusterExpansionZoom", CallParams(params), options: options)
        guard let zoom = try answer.value()["zoom"]?.asInteger else {
            throw RPCError(.internal, "the server's answer has no zoom")
        }
        return zoom
    }

    /// The convex hull of a cluster's points, as a Feature.
    public func hull(
        of cluster: Int64, source: String, extra: JSONObject = [:], options: CallOptions = .init()
    ) async throws -> JSONValue {
        let params = Client.params(source, cluster).with(extra)
        return try await call("ClusterService/GetConvexHull", CallParams(params), options: options).value()
    }

    private static func params(_ source: String, _ cluster: Int64) -> JSONObject {
        ["source": .string(source), "clusterId": .number(Double(cluster))]
    }
}

extension JSONObject {
    /// These members merged with `others`; for a key in both, the value in `others` wins.
    package func with(_ others: JSONObject) -> JSONObject {
        var all = self
        for (key, value) in others.members { all[key] = value }
        return all
    }
}
