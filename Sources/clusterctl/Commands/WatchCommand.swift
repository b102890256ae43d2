// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl watch`: shows the changes of a viewport as they happen.
enum WatchCommand: Subcommand {
    static let table = Command(
        "watch", summary: "Print what changes in a box at a zoom, as it changes",
        details: [
            "Prints a JSON object a line: first all there is, then each change as the source's data change: "
                + "\"add\", features each with a \"key\"; \"remove\", keys; \"keep\", how many stay as they are; "
                + "\"revision\". A feature under a key that is there already takes the other's place.",
            "With --transitions there is also \"update\", features whose keys are there already; \"remove\" has "
                + "objects with \"key\" and, if another marker absorbs it, \"into\"; added features have \"from\", "
                + "the marker that their points come from.",
        ], operands: [.source],
        options: Option.params(
            of: .watchClusters, short: ClustersCommand.short.merging(["maxRateHz": "r"]) { $1 },
            defaults: ClustersCommand.defaults) + [
                Option(
                    "count", short: "c", value: "N", kind: .integer(1...(1 << 53)), defaultInWords: "never",
                    help: "end after N changes")
            ],
        examples: [
            Example("clusterctl watch cities --zoom 2", "watches the world"),
            Example("clusterctl watch cities --zoom 2 --transitions", "follows markers as they merge and split"),
            Example("clusterctl watch cities -b -10,35,30,60 -z 4 -c 1", "prints what is there, with keys"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let params = try invocation.params(of: .watchClusters)
        var left = invocation.arguments.integer("count") ?? .max
        let client = try await invocation.connect()
        defer { client.close() }
        let changes = try client.openBothWays(
            "ClusterService/WatchClusters", CallParams(params), options: invocation.callOptions)
        for try await change in changes {
            Terminal.write(change.line)
            left -= 1
            if left == 0 { break }
        }
    }
}
