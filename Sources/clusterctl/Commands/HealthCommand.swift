// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl health`: whether the daemon serves, as its exit status too.
enum HealthCommand: Subcommand {
    static let table = Command(
        "health", summary: "Say whether the daemon serves; exit status 0 if so",
        examples: [Example("clusterctl health && echo fine", "for scripts and monitors")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call("ServerService/Check")
        let status = try answer.value()["status"]?.asString ?? ""
        try invocation.show(answer) { _ in
            let style = Terminal.outputStyle
            Terminal.write((status == "SERVING" ? style.green(status) : style.red(status)) + "\n")
        }
        if status != "SERVING" { throw Failure(message: "") }
    }
}
