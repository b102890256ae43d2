// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl clusters`: what a map of a box shows at a zoom.
enum ClustersCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "clusters", summary: "Show the clusters and points in a box at a zoom", operands: [.source],
        options: Option.params(of: .getClusters, short: short, defaults: defaults),
        examples: [
            Example("clusterctl clusters cities --zoom 2", "shows the world"),
            Example("clusterctl clusters cities -b -10,35,30,60 -z 4 -n 20", "shows part of Europe"),
            Example(
                "clusterctl clusters cities --filter '[\">\",[\"get\",\"population\"],1e7]'",
                "clusters large cities only"),
        ])

    /// The letters and defaults of the options that describe a viewport.
    static let short: [String: Character] = ["bbox": "b", "zoom": "z", "limit": "n"]
    static let defaults = ["bbox": BoundingBox.worldName, "zoom": "0"]

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getClusters)
        guard invocation.form == .table else { return try invocation.show(answer) { _ in } }
        let collection = try FeatureCollection(answer)
        try ImportReport.showWarnings(of: answer, invocation)
        guard !collection.features.isEmpty else { return invocation.remark("nothing there") }
        invocation.print(FeatureTable.table(collection.features))
        invocation.remark(summary(collection))
    }

    private static func summary(_ collection: FeatureCollection) -> String {
        let clusters = collection.features.filter { $0.cluster != nil }
        let points = collection.features.count - clusters.count
        let total = clusters.reduce(points) { $0 + ($1.cluster?.pointCount ?? 0) }
        let more = collection.isTruncated == true ? "; there are more" : ""
        return "\(Quantity.count(clusters.count, "cluster")) and \(Quantity.count(points, "point")), "
            + "of \(Quantity.count(total, "point")); revision \(collection.revision)\(more)"
    }
}
