// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl leaves`: a cluster's points, page by page.
enum LeavesCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "leaves", summary: "Show a cluster's points", operands: [.source, .cluster],
        options: Option.params(of: .getLeaves, short: ["limit": "n", "offset": "o", "zoom": "z"]) + [
            .flag("all", short: "a", help: "show all, page by page")
        ],
        examples: [
            Example("clusterctl leaves cities 164 -n 20 -o 40", "shows the third page"),
            Example("clusterctl leaves cities 164 --all --json", "prints every point"),
        ])

    /// The number of points in a page with --all, well below the limit of an answer.
    private static let pageSize = 5000

    static func run(_ invocation: Invocation) async throws {
        if invocation.arguments.has("all") { return try await runAll(invocation) }
        let answer = try await invocation.call(.getLeaves)
        try invocation.show(answer) { _ in
            let collection = try FeatureCollection(answer)
            invocation.print(FeatureTable.table(collection.features))
            remark(collection.features.count, collection, invocation)
        }
    }

    private static func remark(_ shown: Int, _ collection: FeatureCollection, _ invocation: Invocation) {
        guard let total = collection.total else { return }
        invocation.remark("\(Quantity.grouped(shown)) of \(Quantity.count(total, "point"))")
    }

    /// All pages are of one revision. If the data change between two pages, the daemon returns an error and
    /// nothing is mixed.
    private static func runAll(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        var members = try invocation.params(of: .getLeaves)
        var features: [Feature] = []
        var page: FeatureCollection
        repeat {
            members["limit"] = .number(Double(pageSize))
            members["offset"] = .number(Double(features.count))
            let answer = try await client.call(
                "ClusterService/GetLeaves", CallParams(members), options: invocation.callOptions)
            page = try FeatureCollection(answer)
            features += page.features
            members["revision"] = .number(Double(page.revision))
        } while !page.features.isEmpty && features.count < page.total ?? 0
        guard invocation.form != .table else {
            invocation.print(FeatureTable.table(features))
            return remark(features.count, page, invocation)
        }
        let collection: JSONObject = [
            "type": .string("FeatureCollection"), "features": .array(features.map { .object($0.json) }),
            "total": .number(Double(features.count)), "revision": .number(Double(page.revision)),
        ]
        try invocation.show(Answer(bytes: Array(JSONValue.object(collection).text.utf8))) { _ in }
    }
}
