// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl info`: what the daemon is.
enum InfoCommand: MethodSubcommand {
    static let table = Command(
        "info", summary: "Show the daemon's version, limits and methods",
        examples: [Example("clusterctl info", "shows them")])

    static let method = MethodDeclaration.getServerInfo

    static func show(_ answer: JSONValue, _ invocation: Invocation) {
        let style = Terminal.outputStyle
        let uptime = (answer["uptimeSeconds"]?.asNumber ?? 0) * 1000
        let server = DescriptionList.text(
            [
                ("name", answer["name"]?.asString ?? ""), ("version", answer["version"]?.asString ?? ""),
                ("uptime", Quantity.duration(milliseconds: uptime)),
            ], style: style)
        let limits = (answer["limits"]?.asObject?.members ?? []).map {
            ($0.key, $0.value.asNumber.map(Quantity.plain) ?? $0.value.text)
        }
        Terminal.writeStyled(server + "\n" + DescriptionList.text(limits, style: style) + "\n")
        var table = Table([.text("METHOD"), .text("KIND"), .flexible("SUMMARY")])
        for method in answer["methods"]?.asArray ?? [] {
            table.add(["name", "kind", "summary"].map { method[$0]?.asString ?? "" })
        }
        invocation.print(table)
    }
}

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

/// `clusterctl health`: whether the daemon and, on request, its sources serve. Also in the exit status.
enum HealthCommand: Subcommand {
    static let table = Command(
        "health", summary: "Show whether the daemon serves; exit status 0 if it does",
        details: [
            "With --sources it lists the sources too, with the time of their data's last change. The exit status is then 0 only if each "
                + "serves its newest data: none is damaged, unavailable, still being read after a start or serves older data, and each "
                + "table can be followed."
        ], options: [.flag("sources", help: "list each source's state, and what is wrong with it")],
        examples: [
            Example("clusterctl health && echo fine", "for scripts and monitors"),
            Example("clusterctl health --sources", "shows each source's state and age"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call("ServerService/Check")
        let status = try answer.value()["status"]?.asString ?? ""
        guard invocation.arguments.has("sources") else {
            // A caller without the right to list sources still learns whether the daemon serves.
            let sources = try? await invocation.call("SourceService/ListSources").value()["sources"]?.asArray
            try invocation.show(answer) { _ in
                show(status)
                for case .object(let source) in sources ?? [] {
                    if let line = replication(source) { Terminal.write(PrintableText.of(line) + "\n") }
                }
            }
            if status != "SERVING" { throw Failure(message: "") }
            return
        }
        let list = try await invocation.call("SourceService/ListSources")
        let sources = try (list.value()["sources"]?.asArray ?? []).map(SourceDescription.init)
        try invocation.show(list) { _ in
            show(status)
            invocation.print(table(sources))
        }
        let bad = sources.count { problem(of: $0) != nil }
        if bad > 0 {
            throw Failure(message: "\(bad) of \(sources.count) sources do not serve their newest data")
        }
        if status != "SERVING" { throw Failure(message: "") }
    }

    /// How a source follows its table; nil if it follows none.
    private static func replication(_ source: JSONObject) -> String? {
        guard let replication = source["replication"]?.asObject else { return nil }
        let note = source["note"]?.asString.map { ": \($0)" } ?? ""
        return "\(source["source"]?.asString ?? ""): \(ReplicationText.summary(of: replication))\(note)"
    }

    private static func show(_ status: String) {
        let style = Terminal.outputStyle
        Terminal.writeStyled((status == "SERVING" ? style.green(status) : style.red(status)) + "\n")
    }

    private static func table(_ sources: [SourceDescription]) -> Table {
        var table = Table([.text("SOURCE"), .text("STATE"), .number("POINTS"), .text("UPDATED"), .flexible("PROBLEM")])
        for source in sources {
            table.add([
                source.name, source.state, Quantity.grouped(source.points),
                source.json["updatedAt"]?.asString ?? "", problem(of: source) ?? "",
            ])
        }
        return table
    }

    /// Why a source does not serve its newest data; nil if it does.
    private static func problem(of source: SourceDescription) -> String? {
        if let damage = source.json["damage"]?.asString { return damage }
        if ["damaged", "unavailable"].contains(source.state) { return source.state }
        if source.state == "loading" { return "its files are still being read" }
        guard source.json["replication"]?.asObject?["state"]?.asString == "waiting" else { return nil }
        return source.json["note"]?.asString
    }
}
