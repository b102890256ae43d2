// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl create`: an empty source.
enum CreateCommand: Subcommand {
    static let table = Command(
        "create", summary: "Create an empty source", details: ["'import' creates its source if it does not exist."],
        operands: [.source], options: SourceOptionFlags.options,
        examples: [Example("clusterctl create cities --radius 60 --max-zoom 14", "creates a source with options")])

    static func run(_ invocation: Invocation) async throws {
        let options = try SourceOptionFlags.read(invocation)
        let answer = try await invocation.call(
            "SourceService/CreateSource", ["source": .string(try invocation.operand(0)), "options": .object(options)])
        try invocation.show(answer) { _ in invocation.print("\(try invocation.operand(0)): created") }
        try ImportReport.showWarnings(of: answer, invocation)
    }
}

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

/// `clusterctl update`: adds, replaces and removes single features.
enum UpdateCommand: Subcommand {
    static let table = Command(
        "update", summary: "Add, replace and remove features of a source by their ids", operands: [.source],
        options: [
            Option(
                "upsert", short: "u", value: "FILE", kind: .file, isRepeatable: true,
                help:
                    "features with ids to add or replace: a Feature, a FeatureCollection or an array; - for standard input"
            ),
            Option(
                "remove", short: "r", value: "ID", isRepeatable: true, help: "the id of a feature to remove"),
        ],
        examples: [Example("clusterctl update cities --upsert new.geojson --remove 17", "both in one step")])

    static func run(_ invocation: Invocation) async throws {
        let upsert = try invocation.arguments.strings("upsert").flatMap { try features(in: $0) }
        let remove = invocation.arguments.strings("remove").map(identifier)
        guard !upsert.isEmpty || !remove.isEmpty else {
            throw invocation.arguments.usageError("nothing to do: give --upsert or --remove")
        }
        var params = ParamsText(["source": .string(try invocation.operand(0))])
        params["upsert"] = "[\(upsert.joined(separator: ","))]"
        params["remove"] = "[\(remove.joined(separator: ","))]"
        let answer = try await invocation.call("SourceService/UpdateFeatures", params.params)
        try invocation.show(answer) { value in
            let counts = ["inserted", "updated", "removed", "missing"].compactMap { name in
                value[name]?.asInteger.map { "\(Quantity.grouped($0)) \(name)" }
            }
            let source = try SourceDescription(value)
            invocation.print("\(source.name): \(counts.joined(separator: ", ")); revision \(source.revision)")
        }
    }

    /// The texts of the features in a file.
    private static func features(in path: String) throws -> [String] {
        let text = try SmallFile.read(path)
        do throws(JSONError) { return try ParamsText.features(in: text) } catch {
            throw Failure(message: "\(path): \(error.message)")
        }
    }

    /// The JSON text of an id: a number if it looks like one; `"17"` in quotes for the string.
    static func identifier(_ text: String) -> String {
        switch try? JSONReader.parse(text) {
        case .number?, .string?: text
        default: JSONValue.string(text).text
        }
    }
}

/// `clusterctl sources`: lists all sources.
enum SourcesCommand: MethodSubcommand {
    static let table = Command(
        "sources", summary: "List the sources", examples: [Example("clusterctl sources", "shows names and sizes")])

    static let method = MethodDeclaration.listSources

    static func show(_ answer: JSONValue, _ invocation: Invocation) throws {
        let sources = try (answer["sources"]?.asArray ?? []).map(SourceDescription.init)
        guard !sources.isEmpty else {
            return invocation.remark("no sources; 'clusterctl import NAME FILE' creates one")
        }
        var table = Table([
            .text("SOURCE"), .number("POINTS"), .number("REVISION"), .number("MEMORY"), .number("BUILT IN"),
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

/// `clusterctl source`: shows one source.
enum SourceCommand: MethodSubcommand {
    static let table = Command(
        "source", summary: "Describe a source", operands: [.source],
        examples: [Example("clusterctl source cities", "shows size, bounds and options")])

    static let method = MethodDeclaration.getSource

    static func show(_ answer: JSONValue, _ invocation: Invocation) throws {
        let entries = DescriptionList.entries(of: try SourceDescription(answer))
        Terminal.writeStyled(DescriptionList.text(entries, style: Terminal.outputStyle))
    }
}

/// `clusterctl delete`: deletes sources.
enum DeleteCommand: Subcommand {
    static let table = Command(
        "delete", summary: "Delete sources",
        operands: [.source, Operand("SOURCE", kind: .dynamic("sources"), count: .any, help: "further sources")],
        examples: [Example("clusterctl delete cities", "deletes the source and its points")])

    static func run(_ invocation: Invocation) async throws {
        let client = try await invocation.connect()
        for source in invocation.arguments.operands {
            try await client.deleteSource(source)
            if !invocation.wantsJSON { invocation.print("\(source): deleted") }
        }
        if invocation.wantsJSON { invocation.print("{}") }
    }
}
