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
        "clusters", summary: "Show the clusters and points in a box at a zoom",
        operands: [CommandTable.source],
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
    static let defaults = ["bbox": "the world", "zoom": "0"]

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

    /// `west,south,east,north`, spaces allowed, or `the world`.
    static func box(_ text: String, _ invocation: Invocation) throws -> BoundingBox {
        if text == defaults["bbox"] { return .world }
        guard let box = BoundingBox(text: text) else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--bbox': west,south,east,north in degrees is expected")
        }
        guard box.south <= box.north else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--bbox': its south is above its north; the order is "
                    + "west,south,east,north")
        }
        return box
    }
}

extension BoundingBox {
    /// Four numbers between commas; nil if the text is anything else.
    init?(text: String) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            Double(part.drop { $0 == " " }.description.trimmedEnd)
        }
        guard numbers.count == 4, let west = numbers[0], let south = numbers[1], let east = numbers[2],
            let north = numbers[3], [west, south, east, north].allSatisfy(\.isFinite)
        else { return nil }
        self.init(west: west, south: south, east: east, north: north)
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
