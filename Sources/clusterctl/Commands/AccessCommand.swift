// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl access explain`: shows what the bearer of a token sees of a source.
enum AccessCommand: Subcommand {
    private enum Action: String, CaseIterable { case explain }

    static let table = Command(
        "access", summary: "Explain what the bearer of a token sees of a source",
        details: [
            "explain verifies the token as the daemon does, and shows which rule of access.rules applies and the filter with the "
                + "token's claims. Only administrators may ask. The token stays on this machine: it goes over the daemon's socket, "
                + "and to no log."
        ],
        operands: [Operand("ACTION", kind: .oneOf(Action.allCases.map(\.rawValue)), help: "what to do")],
        options: [
            Option("token", value: "FILE", kind: .file, help: "the file with the token; - is standard input"),
            Option("source", value: "NAME", help: "the source"),
        ],
        examples: [
            Example("clusterctl access explain --token anna.jwt --source orders", "says which rule applies, and why")
        ])

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard Action(rawValue: try invocation.operand(0)) != nil else { throw arguments.usageError("unknown action") }
        guard let file = arguments.string("token"), let source = arguments.string("source") else {
            throw arguments.usageError("explain needs --token and --source")
        }
        let token = String(try SmallFile.read(file).drop(while: \.isWhitespace).prefix { !$0.isWhitespace })
        let answer = try await invocation.connect().call(
            MethodDeclaration.explainAccess.shortName, ["source": .string(source), "token": .string(token)],
            options: invocation.callOptions
        ).value()
        invocation.show(answer) { show(answer, of: source) }
    }

    private static func show(_ answer: JSONValue, of source: String) {
        var lines: [(String, String)] = [("source", source)]
        for name in ["subject", "right", "rule", "filter", "minCount"] {
            if let value = answer[name] { lines.append((name, value.asString ?? value.text)) }
        }
        if let points = answer["points"]?.asInteger, let all = answer["ofPoints"]?.asInteger {
            lines.append(("points", "\(Quantity.grouped(points)) of \(Quantity.grouped(all))"))
        }
        lines.append(("sees it", answer["isSeen"] == .bool(true) ? "yes" : "no"))
        lines.append(("why", answer["why"]?.asString ?? ""))
        Terminal.writeStyled(DescriptionList.text(lines, style: Terminal.outputStyle) + "\n")
    }
}
