// SPDX-License-Identifier: MIT
import CommandLineOptions

/// `clusterctl manual`: the man page, for the package.
enum ManualCommand: Subcommand {
    static let table = Command("manual", summary: "Print the man page", isHidden: true)

    static func run(_ invocation: Invocation) async throws {
        let page = ManualPage.text(
            for: CommandTable.root, section: 1, version: ClusterControl.version,
            more: [
                ManualPage.Section(
                    "EXIT STATUS",
                    [
                        ("0", "Everything was done."),
                        ("1", "It failed; standard error says why and what to do."),
                        ("2", "The command line is invalid."),
                    ]),
                ManualPage.Section(
                    "ENVIRONMENT",
                    [
                        ("CLUSTERD_SOCKET", "The daemon's socket, unless --socket gives it."),
                        ("XDG_RUNTIME_DIR", "Where the socket clusterd.sock is looked for otherwise."),
                        ("NO_COLOR", "Where this is not empty, output has no colour."),
                    ]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterd(8), clusterd.json(5)")]),
            ])
        Terminal.write(page)
    }
}
