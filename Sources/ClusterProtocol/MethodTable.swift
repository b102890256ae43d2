// SPDX-License-Identifier: MIT
import JSON

/// A method of the contract.
public struct MethodDescription: Sendable, Equatable {
    /// Who streams.
    public enum Kind: String, Sendable {
        case unary
        case clientStream = "client stream"
        case serverStream = "server stream"
        case both
    }

    public let service: String
    public let name: String
    public let kind: Kind
    /// What it does, in a sentence.
    public let summary: String

    /// As it stands in an envelope.
    public var fullName: String { "\(MethodTable.package).\(service)/\(name)" }
}

/// All methods, once: what dispatch, `GetServerInfo`, the documents and `clusterctl` go by.
public enum MethodTable {
    public static let package = "clusterd.v1"

    public static let methods: [MethodDescription] = [
        cluster("GetClusters", "Clusters and points in a box at a zoom."),
        cluster("GetTile", "The features of a tile, as JSON or as a Mapbox Vector Tile."),
        cluster("GetChildren", "A cluster's children on the next zoom."),
        cluster("GetLeaves", "A page of a cluster's points."),
        cluster("GetClusterExpansionZoom", "The zoom at which a cluster falls apart."),
        cluster("GetConvexHull", "The smallest convex shape around a cluster's points."),
        cluster("LocateFeature", "The cluster or point that shows a feature at a zoom."),
        cluster("WatchClusters", "A viewport's changes as they come.", .both),
        source("CreateSource", "Makes an empty source with options."),
        source("ImportFeatures", "Takes features in, all or nothing.", .clientStream),
        source("LoadFile", "Takes features in from a file that the daemon reads."),
        source("UpdateFeatures", "Adds, replaces and removes features by id."),
        source("UpdateOptions", "Changes a source's options and clusters anew."),
        source("DeleteSource", "Removes a source."),
        source("GetSource", "A source's description."),
        source("ListSources", "All sources' descriptions, by name."),
        source("EvaluateExpression", "Compiles and evaluates an expression."),
        server("Check", "Whether the daemon serves."),
        server("GetServerInfo", "Name, version, limits and methods."),
        server("GetStats", "Counters, latencies, memory and sources."),
    ]

    /// Whether a method keeps parts of its params as they were sent.
    static func keepsTexts(_ fullName: String) -> Bool {
        fullName.hasSameBytes(as: "\(package).SourceService/UpdateFeatures")
    }

    private static func cluster(
        _ name: String, _ summary: String, _ kind: MethodDescription.Kind = .unary
    ) -> MethodDescription {
        MethodDescription(service: "ClusterService", name: name, kind: kind, summary: summary)
    }

    private static func source(
        _ name: String, _ summary: String, _ kind: MethodDescription.Kind = .unary
    ) -> MethodDescription {
        MethodDescription(service: "SourceService", name: name, kind: kind, summary: summary)
    }

    private static func server(_ name: String, _ summary: String) -> MethodDescription {
        MethodDescription(service: "ServerService", name: name, kind: .unary, summary: summary)
    }
}
