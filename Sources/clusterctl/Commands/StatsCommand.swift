// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl stats`: shows the daemon's counters, once or repeatedly.
enum StatsCommand: Subcommand {
    static let table = Command(
        "stats", summary: "Show the daemon's counters, latencies and memory",
        options: [
            Option(
                "watch", short: "w", value: "SECONDS", kind: .number(0.1...86400),
                help: "show them again at this interval, with rates"),
            .flag("prometheus", help: "print them in Prometheus' text format"),
        ],
        examples: [
            Example("clusterctl stats", "shows them once"),
            Example("clusterctl stats --watch 2", "shows them every two seconds, with rates"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        let options = invocation.callOptions
        if invocation.arguments.has("prometheus") {
            let answer = try await client.call(
                "ServerService/GetStats", ["format": .string("prometheus")], options: options)
            return Terminal.write(try answer.value()["text"]?.asString ?? "")
        }
        guard let seconds = invocation.arguments.number("watch") else {
            let answer = try await client.call("ServerService/GetStats", options: options)
            return try invocation.show(answer) { show($0, before: nil, seconds: 0) }
        }
        var before: JSONValue?
        let clock = ContinuousClock()
        var then = clock.now
        while true {
            let answer = try await client.call("ServerService/GetStats", options: options)
            let now = clock.now
            try invocation.show(answer) { value in
                if Terminal.outputIsTerminal { Terminal.writeStyled("\u{1B}[H\u{1B}[2J") }
                show(value, before: before, seconds: (now - then) / .seconds(1))
                before = value
            }
            then = now
            try await clock.sleep(for: .seconds(seconds))
        }
    }

    private static func show(_ value: JSONValue, before: JSONValue?, seconds: Double) {
        let report = StatsReport(value, before: before, seconds: seconds)
        Terminal.writeStyled(report.text(width: Terminal.outputWidth, style: Terminal.outputStyle))
    }
}
