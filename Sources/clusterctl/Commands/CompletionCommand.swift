// SPDX-License-Identifier: MIT
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
