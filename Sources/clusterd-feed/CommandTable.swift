// SPDX-License-Identifier: MIT
import CommandLineOptions
import Feeds

/// The program's command line, from which the parser, the help, the manual and the completion are made.
enum CommandTable {
    static let command = Command(
        "clusterd-feed", summary: "Carry the messages of a broker or a log into a source of clusterd",
        details: [
            "URL is nats://HOST:PORT/STREAM?subject=SUBJECT (JetStream), kafka://HOST:PORT/TOPIC, mqtt://HOST:PORT/TOPIC-FILTER, or - for lines on standard input.",
            "A message is a GeoJSON Feature, an array of them, or a JSON object that expressions map. An empty message removes the feature of its key. Messages that can't be mapped are left out, counted, and appended to the file of --rejects.",
            "The source stores the position of the log with the data, so that each message is applied exactly once, whatever is killed. MQTT has no positions: after a failure messages may be applied again, which changes nothing for features that are replaced as a whole.",
            "A broker or a daemon that is down is tried again after 0.1 to 30 seconds. SIGTERM ends the feed with status 0, as does the end of standard input. Exit status 2: invalid flags or configuration; 1: the source does not exist, or the feed can't continue.",
        ],
        operands: [Operand("URL", count: .optional, help: "the broker; the configuration's url otherwise")],
        options: [
            Option("config", short: "c", value: "FILE", kind: .file, help: "read the configuration from FILE")
        ] + FeedSettings.members.map(option) + [
            Option(
                "print", value: "TEXT", kind: .oneOf(PrintedText.allCases.map(\.rawValue)),
                help: "print a text for packages, and exit")
        ],
        examples: [
            Example(
                "clusterd-feed 'nats://localhost:4222/FLEET?subject=vehicles.*' --source fleet",
                "follows positions of vehicles, by the last part of their subject"),
            Example(
                "clusterd-feed kafka://localhost:9092/ships --source ships --longitude '[\"get\",\"lon\"]' --latitude '[\"get\",\"lat\"]'",
                "maps messages by expressions"),
            Example(
                "tail -n +1 -F positions.ndjson | clusterd-feed - --source fleet --id '[\"get\",\"id\"]'",
                "follows a file from its beginning: what the source has is skipped"),
            Example("clusterd-feed --config /etc/clusterd/feeds/fleet.json --check", "shows how messages map"),
        ])

    private static func option(_ member: FeedSettings.Member) -> Option {
        let kind: ValueKind =
            switch member.kind {
            case .file: .file
            case .word(let words): .oneOf(words)
            case .text, .expression, .expressions, .flag: .text
            }
        let short: Character? = member.name == "socket" ? "s" : nil
        return Option(
            member.name, short: short, value: member.valueName, kind: kind, defaultInWords: member.standard,
            help: member.help)
    }
}
