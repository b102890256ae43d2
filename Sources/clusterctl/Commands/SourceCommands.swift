// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl create`: an empty source.
enum CreateCommand: Subcommand {
    static let table = Command(
        "create", summary: "Make an empty source",
        details: ["'import' makes the source that it needs by itself."],
        operands: [CommandTable.source], options: SourceOptionFlags.options,
        examples: [Example("clusterctl create cities --radius 60 --max-zoom 14", "sets how it will cluster")])

    static func run(_ invocation: Invocation) async throws {
        let options = try SourceOptionFlags.read(invocation)
        let answer = try await invocation.call(
            "SourceService/CreateSource",
            ["source": .string(try invocation.operand(0)), "options": .object(options)])
        try invocation.show(answer) { _ in invocation.print("\(try invocation.operand(0)): created") }
    }
}

/// `clusterctl options`: shows or changes how a source clusters.
enum OptionsCommand: Subcommand {
    static let table = Command(
        "options", summary: "Show or change how a source clusters",
        details: ["Options that are not given stay as they are; --reset sets them to their defaults."],
        operands: [CommandTable.source],
        options: [.flag("reset", help: "set every option that is not given to its default")]
            + SourceOptionFlags.options,
        examples: [
            Example("clusterctl options cities", "shows them"),
            Example("clusterctl options cities --radius 80", "clusters anew with a larger radius"),
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
        }
        if invocation.wantsJSON { return invocation.print(JSONValue.object(description.options).text) }
        let entries = description.options.members.map { ($0.key, $0.value.asString ?? $0.value.text) }
        Terminal.write(DescriptionList.text(entries, style: Terminal.outputStyle))
    }
}

/// `clusterctl sources`: all of them.
enum SourcesCommand: Subcommand {
    static let table = Command(
        "sources", summary: "List the sources",
        examples: [Example("clusterctl sources", "shows names and sizes")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call("SourceService/ListSources")
        try invocation.show(answer) { value in
            let sources = try (value["sources"]?.asArray ?? []).map(SourceDescription.init)
            guard !sources.isEmpty else {
                return invocation.remark("no sources; 'clusterctl import NAME FILE' makes one")
            }
            var table = Table([
                .text("SOURCE"), .number("POINTS"), .number("REVISION"), .number("MEMORY"),
                .number("BUILT IN"),
                .text("STATE"),
            ])
            for source in sources {
                table.add([
                    source.name, Quantity.grouped(source.points), String(source.revision),
                    Quantity.bytes(Double(source.memoryBytes)),
                    Quantity.duration(milliseconds: source.buildMilliseconds), source.state,
                ])
            }
            invocation.print(table)
        }
    }
}

/// `clusterctl source`: one of them.
enum SourceCommand: Subcommand {
    static let table = Command(
        "source", summary: "Describe a source", operands: [CommandTable.source],
        examples: [Example("clusterctl source cities", "shows size, bounds and options")])

    static func run(_ invocation: Invocation) async throws {
        let answer = try await invocation.call(
            "SourceService/GetSource", ["source": .string(try invocation.operand(0))])
        try invocation.show(answer) { value in
            let entries = DescriptionList.entries(of: try SourceDescription(value))
            Terminal.write(DescriptionList.text(entries, style: Terminal.outputStyle))
        }
    }
}

/// `clusterctl delete`: takes sources away.
enum DeleteCommand: Subcommand {
    static let table = Command(
        "delete", summary: "Delete sources",
        operands: [
            CommandTable.source,
            Operand("SOURCE", kind: .dynamic("sources"), count: .any, help: "further sources"),
        ],
        examples: [Example("clusterctl delete cities", "forgets the source and its points")])

    static func run(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        for source in invocation.arguments.operands {
            try await client.deleteSource(source)
            if !invocation.wantsJSON { invocation.print("\(source): deleted") }
        }
        if invocation.wantsJSON { invocation.print("{}") }
    }
}
