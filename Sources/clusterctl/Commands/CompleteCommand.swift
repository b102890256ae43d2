// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions

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
            for source in try await client.sources() { invocation.print(source.name) }
        }
    }

    private static func methods(among words: ArraySlice<String>) -> [MethodDeclaration] {
        let words = words.map { $0.lowercased() }
        return MethodDeclaration.all.filter { method in
            [method.name, method.shortName, method.fullName].contains { words.contains($0.lowercased()) }
        }
    }
}
