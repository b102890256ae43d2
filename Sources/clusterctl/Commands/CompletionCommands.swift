// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions

/// `clusterctl completion`: the shell's completion script.
enum CompletionCommand: Subcommand {
    static let table = Command(
        "completion", summary: "Print a shell's completion script",
        operands: [
            Operand(
                "SHELL", kind: .oneOf(CompletionScript.Shell.allCases.map(\.rawValue)),
                help: "for which shell")
        ],
        examples: [Example("source <(clusterctl completion bash)", "completes in this shell")])

    static func run(_ invocation: Invocation) async throws {
        guard let shell = CompletionScript.Shell(rawValue: try invocation.operand(0)) else {
            throw invocation.arguments.usageError("unknown shell")
        }
        Terminal.write(CompletionScript.text(for: CommandTable.root, shell: shell))
    }
}

/// `clusterctl complete`: what only the daemon knows, for the completion script, one a line.
enum CompleteCommand: Subcommand {
    static let table = Command(
        "complete", summary: "Print completions",
        operands: [Operand("WHAT", kind: .oneOf(["sources"]), help: "of what")],
        isHidden: true)

    static func run(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        for source in try await client.sources() { invocation.print(source.name) }
    }
}

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
                        ("2", "The command line does not fit."),
                    ]),
                ManualPage.Section(
                    "ENVIRONMENT",
                    [
                        ("CLUSTERD_SOCKET", "The daemon's socket, where --socket does not tell it."),
                        ("XDG_RUNTIME_DIR", "Where the socket clusterd.sock is looked for otherwise."),
                        ("NO_COLOR", "Where this is not empty, output has no colour."),
                    ]),
                ManualPage.Section("SEE ALSO", [(nil, "clusterd(8), clusterd.json(5)")]),
            ])
        Terminal.write(page)
    }
}
