// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl sources`: lists all sources.
enum SourcesCommand: Subcommand {
    static let table = Command(
        "sources", summary: "List the sources", examples: [Example("clusterctl sources", "shows names and sizes")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call("SourceService/ListSources")
        try invocation.show(answer) { value in
            let sources = try (value["sources"]?.asArray ?? []).map(SourceDescription.init)
            guard !sources.isEmpty else {
                return invocation.remark("no sources; 'clusterctl import NAME FILE' creates one")
            }
            var table = Table([
                .text("SOURCE"), .number("POINTS"), .number("REVISION"), .number("MEMORY"), .number("BUILT IN"),
                .text("STATE"),
            ])
            for source in sources {
                table.add([
                    source.name, Quantity.grouped(source.points), String(source.revision),
                    Quantity.bytes(Double(source.memoryBytes)),
                    Quantity.duration(milliseconds: source.buildMilliseconds), source.state,
                ])
            }
            invocation.print(table)
        }
    }
}
