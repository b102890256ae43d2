// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions

/// `clusterctl children`: a cluster's children on the next zoom.
enum ChildrenCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "children", summary: "Show a cluster's children on the next zoom", operands: [.source, .cluster],
        options: Option.params(of: .getChildren, short: ["zoom": "z"]),
        examples: [Example("clusterctl children cities 164", "shows what the cluster splits into")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getChildren)
        try invocation.show(answer) { _ in invocation.print(FeatureTable.table(try FeatureCollection(answer).features))
        }
    }
}
