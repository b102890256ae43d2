// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON

/// `clusterctl zoom`: the zoom at which a cluster splits.
enum ZoomCommand: Subcommand {
    static let table = Command(
        "zoom", summary: "Show the zoom at which a cluster splits", operands: [.source, .cluster],
        options: Option.params(of: .getClusterExpansionZoom, short: ["zoom": "z"]),
        examples: [Example("clusterctl zoom cities 164", "shows where to zoom to when it is tapped")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(.getClusterExpansionZoom)
        try invocation.show(answer) { value in invocation.print(value["zoom"]?.text ?? value.text) }
    }
}
