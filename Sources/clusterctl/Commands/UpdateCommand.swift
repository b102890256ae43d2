// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import Rendering

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
