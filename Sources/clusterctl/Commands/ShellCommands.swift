// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
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

/// `clusterctl complete`: completions that only the program or the daemon knows, one on each line, for the
/// completion script.
enum CompleteCommand: Subcommand {
    static let table = Command(
        "complete", summary: "Print completions",
        operands: [
            Operand("WHAT", kind: .oneOf(["sources", "methods", "params"]), help: "of what"),
            Operand("WORD", count: .any, help: "the words of the command line so far"),
        ], isHidden: true)

    static func run(_ invocation: Invocation) async throws {
        switch try invocation.operand(0) {
        case "methods":
            // A command line has one method. The last word is still being typed.
            guard methods(among: invocation.arguments.operands.dropFirst().dropLast()).isEmpty else { return }
            for method in MethodDeclaration.all { invocation.print(method.name) }
        case "params":
            let named = methods(among: invocation.arguments.operands.dropFirst())
            for name in named.flatMap(\.paramNames) { invocation.print("\(name)=") }
        default:
            let client = try await invocation.connect()
            for source in try await client.sources() {
                for name in [source.name] + source.viewNames { invocation.print(name) }
            }
        }
    }

    private static func methods(among words: ArraySlice<String>) -> [MethodDeclaration] {
        let words = words.map { $0.lowercased() }
        return MethodDeclaration.all.filter { method in
            [method.name, method.shortName, method.fullName].contains { words.contains($0.lowercased()) }
        }
    }
}

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
