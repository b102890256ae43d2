// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl create`: an empty source.
enum CreateCommand: Subcommand {
    static let table = Command(
        "create", summary: "Create an empty source", details: ["'import' creates its source if it does not exist."],
        operands: [.source], options: SourceOptionFlags.options,
        examples: [Example("clusterctl create cities --radius 60 --max-zoom 14", "creates a source with options")])

    static func run(_ invocation: Invocation) async throws {
        let options = try SourceOptionFlags.read(invocation)
        let answer = try await invocation.call(
            "SourceService/CreateSource", ["source": .string(try invocation.operand(0)), "options": .object(options)])
        try invocation.show(answer) { _ in invocation.print("\(try invocation.operand(0)): created") }
        try ImportReport.showWarnings(of: answer, invocation)
    }
}
