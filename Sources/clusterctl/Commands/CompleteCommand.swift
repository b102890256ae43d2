// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions

/// `clusterctl complete`: what only the daemon knows, for the completion script, one a line.
enum CompleteCommand: Subcommand {
    static let table = Command(
        "complete", summary: "Print completions",
        operands: [Operand("WHAT", kind: .oneOf(["sources"]), help: "of what")],
        isHidden: true)

    static func run(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        for source in try await client.sources() { invocation.print(source.name) }
    }
}
