// SPDX-License-Identifier: MIT
import ClusterProtocol
import CommandLineOptions

/// Texts generated from the table of flags.
enum PrintedText: String, CaseIterable {
    case manual
    case bash
    case zsh
    case fish

    var content: String {
        switch self {
        case .manual: Self.page
        case .bash: CompletionScript.text(for: CommandTable.command, shell: .bash)
        case .zsh: CompletionScript.text(for: CommandTable.command, shell: .zsh)
        case .fish: CompletionScript.text(for: CommandTable.command, shell: .fish)
        }
    }

    private static var page: String {
        ManualPage.text(
            for: CommandTable.command, section: 8, version: Release.version,
            more: [
                ManualPage.Section(
                    "CONFIGURATION",
                    [
                        (
                            nil,
                            "One JSON object whose members are named like the flags, and url. Expressions may be JSON values. Unknown members are errors; flags take precedence."
                        )
                    ]),
                ManualPage.Section(
                    "POSITIONS",
                    [
                        (
                            "NATS",
                            "The sequence of the stream. A source without a position is fed from the first message."
                        ),
                        ("Kafka", "PARTITION:OFFSET,… of the last messages applied, from the earliest on."),
                        ("Standard input", "The number of lines read. Lines that the source has are skipped."),
                        (
                            "MQTT",
                            "None. A persistent session with QoS 1 keeps what was not acknowledged, and a message is acknowledged once the daemon has applied it. So each is applied at least once; a repeat of an upsert changes nothing."
                        ),
                    ]),
                ManualPage.Section(
                    "METRICS",
                    [
                        ("clusterd_feed_messages_total", "Messages received."),
                        ("clusterd_feed_rejected_total{reason}", "Messages and features left out."),
                        ("clusterd_feed_connected{end}", "Whether the broker and the daemon are connected."),
                        ("clusterd_feed_lag_ms", "How long the oldest message that is not applied has waited."),
                    ]),
                ManualPage.Section(
                    "FILES", [("/etc/clusterd/feeds/NAME.json", "The configuration of clusterd-feed@NAME.service.")]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterd(8), clusterctl(1)")]),
            ])
    }
}
