// SPDX-License-Identifier: MIT
import ClusterProtocol
import Daemon
import CommandLineOptions

/// Texts generated from the tables of flags and of the configuration.
enum PrintedText: String, CaseIterable {
    case manual
    case configurationManual = "configuration-manual"
    case configurationSchema = "configuration-schema"
    case configurationTable = "configuration-table"
    case params
    case bash
    case zsh
    case fish

    var content: String {
        switch self {
        case .manual: Self.daemonPage
        case .configurationManual: Self.configurationPage
        case .configurationSchema: Configuration.schema.indented() + "\n"
        case .configurationTable: Self.membersTable
        case .params: MethodDeclaration.params.indented() + "\n"
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
                        ("1", "It could not serve; standard error has the reason."),
                        ("2", "Invalid flags or configuration."),
                    ]),
                ManualPage.Section(
                    "ENVIRONMENT",
                    [
                        ("CLUSTERD_SOCKET", "The socket, unless --socket or the configuration gives it."),
                        ("XDG_RUNTIME_DIR", "The directory of the socket clusterd.sock otherwise."),
                        ("CONFIGURATION_DIRECTORY", "The directory of clusterd.json; systemd sets it."),
                        (
                            "LISTEN_FDS, NOTIFY_SOCKET, WATCHDOG_USEC, JOURNAL_STREAM",
                            "Set by systemd: sockets that it passes, and how the daemon reports its state."
                        ),
                    ]),
                ManualPage.Section(
                    "FILES",
                    [
                        ("/etc/clusterd/clusterd.json", "The configuration."),
                        ("/run/clusterd/clusterd.sock", "The system's socket."),
                    ]), ManualPage.Section("SEE ALSO", [(nil, "clusterctl(1), clusterd.json(5)")]),
            ])
    }

    /// The table of `proto-docs/configuration.md`.
    private static var membersTable: String {
        var text = "| member | type | default | |\n| --- | --- | --- | --- |\n"
        for member in Configuration.documentation {
            let standard = member.standard.map { "`\($0)`" } ?? ""
            let help = member.help + (member.isLive ? "" : " A change takes effect with a restart.")
            text += "| `\(member.path)` | \(member.type) | \(standard) | \(help) |\n"
        }
        return text
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
                            "One JSON object. Every member is optional; a member that is unknown, given twice or of another type is rejected with its line and column. Flags of clusterd(8) take precedence."
                        ),
                        (
                            nil,
                            "A reload (SIGHUP, or systemctl reload clusterd) applies what changed, except for members that need a restart."
                        ),
                        (
                            nil,
                            "A declared source's file is read with the daemon's own rights. Replace it by writing another file beside it and renaming that: a half-written file is rejected, or, if it has lines of features, loaded and then loaded again once it is complete."
                        ),
                    ]),
                ManualPage.Section("MEMBERS", members),
                ManualPage.Section(
                    "FILES", [("/etc/clusterd/clusterd.json", "Read if no flag names another.")]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterd(8), clusterctl(1)")]),
            ])
    }
}
