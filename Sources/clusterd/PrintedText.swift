// SPDX-License-Identifier: MIT
import Daemon
import CommandLineOptions

/// Texts that are made from the tables of flags and of the configuration.
enum PrintedText: String, CaseIterable {
    case manual
    case configurationManual = "configuration-manual"
    case configurationSchema = "configuration-schema"
    case bash
    case zsh
    case fish

    var content: String {
        switch self {
        case .manual: Self.daemonPage
        case .configurationManual: Self.configurationPage
        case .configurationSchema: Configuration.schema.indented() + "\n"
        case .bash: CompletionScript.text(for: CommandTable.command, shell: .bash)
        case .zsh: CompletionScript.text(for: CommandTable.command, shell: .zsh)
        case .fish: CompletionScript.text(for: CommandTable.command, shell: .fish)
        }
    }

    private static var daemonPage: String {
        ManualPage.text(
            for: CommandTable.command, section: 8, version: Daemon.version,
            more: [
                ManualPage.Section(
                    "SIGNALS",
                    [
                        ("SIGTERM, SIGINT", "End after the calls in flight, within limits.shutdownGraceMs."),
                        ("SIGHUP", "Read the configuration again and apply what changed."),
                    ]),
                ManualPage.Section(
                    "EXIT STATUS",
                    [
                        ("0", "It was ended by a signal."),
                        ("1", "Something kept it from serving; standard error says what."),
                        ("2", "Wrong flags or configuration."),
                    ]),
                ManualPage.Section(
                    "ENVIRONMENT",
                    [
                        (
                            "CLUSTERD_SOCKET",
                            "The socket, where neither --socket nor the configuration tells it."
                        ),
                        ("XDG_RUNTIME_DIR", "Where the socket clusterd.sock is made otherwise."),
                        ("CONFIGURATION_DIRECTORY", "Where clusterd.json is looked for; systemd sets it."),
                        (
                            "LISTEN_FDS, NOTIFY_SOCKET, WATCHDOG_USEC, JOURNAL_STREAM",
                            "As systemd sets them: sockets handed over, and how it is told of the daemon's state."
                        ),
                    ]),
                ManualPage.Section(
                    "FILES",
                    [
                        ("/etc/clusterd/clusterd.json", "The configuration."),
                        ("/run/clusterd/clusterd.sock", "The system's socket."),
                    ]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterctl(1), clusterd.json(5)")]),
            ])
    }

    private static var configurationPage: String {
        let members = Configuration.documentation.map { member in
            (
                term: Optional(member.path),
                text: member.type.prefix(1).uppercased() + member.type.dropFirst() + ". " + member.help
                    + (member.standard.map { " Default: \($0)." } ?? "")
                    + (member.isLive ? "" : " A change takes effect with a restart.")
            )
        }
        return ManualPage.text(
            file: "clusterd.json", section: 5, program: "clusterd", version: Daemon.version,
            summary: "configuration of clusterd",
            sections: [
                ManualPage.Section(
                    "DESCRIPTION",
                    [
                        (
                            nil,
                            "One object of JSON. Every member may be left out; a member that is unknown, given twice or of another type is refused with its line and column. Flags of clusterd(8) go before the file."
                        ),
                        (
                            nil,
                            "A reload (SIGHUP, or systemctl reload clusterd) applies what changed, but for members that say otherwise."
                        ),
                        (
                            nil,
                            "A declared source's file is read with the daemon's own rights. Whoever writes it should write beside it and rename: a file that is read half written is refused, or, if it is lines of features, loaded again when it is whole."
                        ),
                    ]),
                ManualPage.Section("MEMBERS", members),
                ManualPage.Section(
                    "FILES", [("/etc/clusterd/clusterd.json", "Read where no flag names another.")]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterd(8), clusterctl(1)")]),
            ])
    }
}
