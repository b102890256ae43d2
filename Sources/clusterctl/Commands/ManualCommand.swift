// SPDX-License-Identifier: MIT
import ClusterProtocol
import CommandLineOptions

/// `clusterctl manual`: the man page, for the package.
enum ManualCommand: Subcommand {
    static let table = Command("manual", summary: "Print the man page", isHidden: true)

    static func run(_ invocation: Invocation) async throws {
        let page = ManualPage.text(
            for: CommandTable.root, section: 1, version: Release.version,
            more: [
                ManualPage.Section(
                    "EXIT STATUS",
                    [
                        ("0", "Everything was done."),
                        ("1", "It failed; standard error says why and what to do."),
                        ("2", "The command line is invalid."),
                        ("3", "There is no such source, cluster or feature."),
                        ("4", "No daemon answers."),
                        ("5", "The daemon refuses: it is not allowed, not valid or not possible at the moment."),
                    ]),
                ManualPage.Section(
                    "ENVIRONMENT",
                    [
                        ("CLUSTERD_SOCKET", "The daemon's socket, unless --socket gives it."),
                        (
                            "XDG_RUNTIME_DIR",
                            "The directory of the socket clusterd.sock, if CLUSTERD_SOCKET is not set."
                        ),
                        ("NO_COLOR", "If it is not empty, output has no colour."),
                    ]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterd(8), clusterd.json(5)")]),
            ])
        Terminal.write(page)
    }
}
