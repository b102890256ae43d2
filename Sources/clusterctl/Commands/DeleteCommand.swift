// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl delete`: deletes sources.
enum DeleteCommand: Subcommand {
    static let table = Command(
        "delete", summary: "Delete sources",
        operands: [.source, Operand("SOURCE", kind: .dynamic("sources"), count: .any, help: "further sources")],
        examples: [Example("clusterctl delete cities", "deletes the source and its points")])

    static func run(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        for source in invocation.arguments.operands {
            try await client.deleteSource(source)
            if !invocation.wantsJSON { invocation.print("\(source): deleted") }
        }
        if invocation.wantsJSON { invocation.print("{}") }
    }
}
