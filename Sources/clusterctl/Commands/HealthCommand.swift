// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl health`: whether the daemon serves, as its exit status too.
enum HealthCommand: Subcommand {
    static let table = Command(
        "health", summary: "Show whether the daemon serves; exit status 0 if it does",
        examples: [Example("clusterctl health && echo fine", "for scripts and monitors")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call("ServerService/Check")
        let status = try answer.value()["status"]?.asString ?? ""
        // A caller that may not list sources learns all the same whether the daemon serves.
        let sources = try? await invocation.call("SourceService/ListSources").value()["sources"]?.asArray
        try invocation.show(answer) { _ in
            let style = Terminal.outputStyle
            Terminal.write((status == "SERVING" ? style.green(status) : style.red(status)) + "\n")
            for case .object(let source) in sources ?? [] {
                guard let replication = source["replication"]?.asObject else { continue }
                let note = source["note"]?.asString.map { ": \($0)" } ?? ""
                let line =
                    "\(source["source"]?.asString ?? ""): \(ReplicationText.summary(of: replication))\(note)"
                Terminal.write(PrintableText.of(line) + "\n")
            }
        }
        if status != "SERVING" { throw Failure(message: "") }
    }
}
