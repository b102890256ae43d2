// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl options`: shows or changes how a source clusters.
enum OptionsCommand: Subcommand {
    static let table = Command(
        "options", summary: "Show or change the options of a source",
        details: ["Options that are not given stay as they are; --reset sets them to their defaults."],
        operands: [.source],
        options: [.flag("reset", help: "set every option that is not given to its default")]
            + SourceOptionFlags.options,
        examples: [
            Example("clusterctl options cities", "shows them"),
            Example("clusterctl options cities --radius 80", "clusters again with a larger radius"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let source = try invocation.operand(0)
        let given = try SourceOptionFlags.read(invocation)
        let client = try await invocation.connect()
        let isReset = invocation.arguments.has("reset")
        var description = try await client.source(source)
        if isReset || !given.isEmpty {
            let wanted = isReset ? given : description.options.with(given)
            let answer = try await client.call(
                "SourceService/UpdateOptions", ["source": .string(source), "options": .object(wanted)],
                options: invocation.callOptions)
            description = try SourceDescription(try answer.value())
            try ImportReport.showWarnings(of: answer, invocation)
        }
        let options = JSONValue.object(description.options)
        guard invocation.form == .table else {
            return try invocation.show(Answer(bytes: Array(options.text.utf8))) { _ in }
        }
        let entries = description.options.members.map { ($0.key, $0.value.asString ?? $0.value.text) }
        Terminal.writeStyled(DescriptionList.text(entries, style: Terminal.outputStyle))
    }
}
