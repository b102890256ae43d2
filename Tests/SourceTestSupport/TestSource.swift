// SPDX-License-Identifier: MIT
import Foundation
import GeoJSON
import JSON
import TestSupport
import Testing

import Responses
import SourceEngine

/// A source to try things on.
package struct TestSource {
    package let registry: SourceRegistry
    package let source: Source

    /// - Parameter leastClusteredAlone: as in the limits.
    package init(options json: String = "{}", leastClusteredAlone: Int? = nil) throws {
        var limits = SourceLimits(filterCacheBytes: 64 << 20, buildThreads: 1)
        if let leastClusteredAlone { limits.leastClusteredAlone = leastClusteredAlone }
        registry = SourceRegistry(limits: limits)
        let options = try SourceOptions(reading: JSONReader.parse(json))
        source = try registry.create(#require(SourceName("test")), options: options)
    }

    /// Imports a JSON array of features.
    @discardableResult package func load(
        _ features: String..., mode: ImportMode = .replace, policy: InvalidFeaturePolicy = .reject
    ) throws -> ImportOutcome {
        let load = FeatureImport(into: source, mode: mode, policy: policy)
        for text in features { try load.add(text) }
        return try load.finish(.never)
    }

    package func update(upsert: String? = nil, remove: [FeatureIdentifier] = []) throws -> UpdateOutcome {
        try source.update(upserts: upsert.map { Array($0.utf8) }, removals: remove, .never)
    }

    /// All that is seen of the world at a zoom.
    package func world(_ zoom: Double, filter: String? = nil, _ output: FeatureOutput = FeatureOutput())
        throws
        -> Answer
    { try clusters(ClustersQuery(box: .world, zoom: zoom, output: output), filter: filter) }

    package func clusters(_ query: ClustersQuery, filter: String? = nil) throws -> Answer {
        try answer(filter, zoom: query.zoom) { revision, view, bytes in
            try revision.writeClusters(query, of: view, into: &bytes, .never)
        }
    }

    /// What a query of the newest revision wrote.
    package func answer(
        _ filter: String? = nil, zoom: Double? = nil, _ write: (Revision, View, inout ByteWriter) throws -> Void
    ) throws -> Answer {
        let revision = source.revision
        let queryFilter = try filter.map { QueryFilter(try JSONReader.parse($0)) }
        let view = try revision.view(queryFilter, zoom: zoom, .never)
        var bytes = ByteWriter()
        try write(revision, view, &bytes)
        return try Answer(bytes.string)
    }
}

extension FeatureImport {
    package func add(_ text: String) throws {
        try add(features: Array(text.utf8))
    }
}

/// A JSON answer, for looking into.
package struct Answer {
    package let text: String
    package let object: [String: Any]

    package init(_ text: String) throws {
        self.text = text
        object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    package var features: [[String: Any]] { object["features"] as? [[String: Any]] ?? [] }
    package var revision: Int? { object["revision"] as? Int }

    package func properties(_ place: Int) -> [String: Any] {
        features[place]["properties"] as? [String: Any] ?? [:]
    }
    package var clusterIds: [Int64] {
        features.indices.compactMap { (properties($0)["cluster_id"] as? NSNumber)?.int64Value }
    }
    package var pointCounts: [Int] { features.indices.compactMap { properties($0)["point_count"] as? Int } }
}

/// The text of a feature.
package func point(_ id: Int?, _ longitude: Double, _ latitude: Double, _ properties: String = "{}") -> String {
    let member = id.map { "\"id\":\($0)," } ?? ""
    return """
        {"type":"Feature",\(member)"geometry":{"type":"Point","coordinates":[\(longitude),\(latitude)]},\
        "properties":\(properties)}
        """
}

/// The text of a JSON array of features.
package func list(_ features: String...) -> String { "[" + features.joined(separator: ",") + "]" }

/// The text of a JSON array of points made from a seed.
package func list(_ points: [GoldenPoint]) -> String {
    "[" + points.map(\.feature).joined(separator: ",") + "]"
}
