// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl source`: shows one source.
enum SourceCommand: Subcommand {
    static let table = Command(
        "source", summary: "Describe a source", operands: [.source],
        examples: [Example("clusterctl source cities", "shows size, bounds and options")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(
            "SourceService/GetSource", ["source": .string(try invocation.operand(0))])
        try invocation.show(answer) { value in
            let entries = DescriptionList.entries(of: try SourceDescription(value))
            Terminal.writeStyled(DescriptionList.text(entries, style: Terminal.outputStyle))
        }
    }
}
