// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl info`: what the daemon is.
enum InfoCommand: Subcommand {
    static let table = Command(
        "info", summary: "Show the daemon's version, limits and methods",
        examples: [Example("clusterctl info", "shows them")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call("ServerService/GetServerInfo")
        try invocation.show(answer) { value in
            let style = Terminal.outputStyle
            let uptime = (value["uptimeSeconds"]?.asNumber ?? 0) * 1000
            var text = DescriptionList.text(
                [
                    ("name", value["name"]?.asString ?? ""), ("version", value["version"]?.asString ?? ""),
                    ("uptime", Quantity.duration(milliseconds: uptime)),
                ], style: style)
            let limits = value["limits"]?.asObject?.members ?? []
            text +=
                "\n"
                + DescriptionList.text(
                    limits.map { ($0.key, $0.value.asNumber.map(Quantity.plain) ?? $0.value.text) }, style: style)
            Terminal.writeStyled(text + "\n")
            var table = Table([.text("METHOD"), .text("KIND"), .flexible("SUMMARY")])
            for method in value["methods"]?.asArray ?? [] {
                table.add(["name", "kind", "summary"].map { method[$0]?.asString ?? "" })
            }
            invocation.print(table)
        }
    }
}
