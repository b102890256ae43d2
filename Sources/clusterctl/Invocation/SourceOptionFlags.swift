// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import Sources

/// The flags of all commands that take a source's options. Their defaults are the daemon's, and are not sent.
enum SourceOptionFlags {
    static let options = options()

    /// - Parameter geometries: the default of `--geometries`, if the command has its own.
    static func options(geometries: String? = nil) -> [Option] {
        [
            option("radius", for: "radius", value: "PIXELS"),
            option("extent", for: "extent", value: "PIXELS"),
            option("min-zoom", for: "minZoom", value: "ZOOM"),
            option("max-zoom", for: "maxZoom", value: "ZOOM"),
            option("min-points", for: "minPoints", value: "N"),
            Option(
                "cluster-property", short: "p", value: "NAME=JSON", isRepeatable: true,
                help: "an aggregated property of clusters, such as 'people=[\"+\",[\"get\",\"population\"]]'"),
            option("filter", for: "filter", value: "EXPRESSION"),
            option("promote-id", for: "promoteId", value: "NAME"),
            .flag("generate-id", help: help("generateId")),
            option("weight", for: "weight", value: "EXPRESSION"),
            option("partition-by", for: "partitionBy", value: "EXPRESSION"),
            option("precision", for: "precision", value: "WIDTH"),
            option("geometries", for: "geometries", value: "KIND", default: geometries),
            option("sort-key", for: "sortKey", value: "EXPRESSION"),
            option("cluster-ids", for: "clusterIds", value: "KIND"),
            Option(
                "planar", value: "X,Y,X,Y",
                help: "coordinates are units of this box (minimum x and y, maximum x and y), not degrees"),
            option("ttl", for: "ttlSeconds", value: "SECONDS", kind: .number(0...1e12)),
            Option("options", value: "JSON", help: "further options as a JSON object, or @FILE to read it"),
        ]
    }

    /// A flag for an option of the daemon's table, with its values, help and default.
    private static func option(
        _ flag: String, for name: String, value: String, kind: ValueKind? = nil, default own: String? = nil
    ) -> Option {
        let option = SourceOption.named(name)
        let values: ValueKind =
            switch option?.shape {
            case .integer(let range): .integer(Int64(range.lowerBound)...Int64(range.upperBound))
            case .oneOf(let names): .oneOf(names)
            default: .text
            }
        let standard: String? =
            switch option?.standard {
            case .string(let text): text
            case let value: value?.text
            }
        return Option(
            flag, value: value, kind: kind ?? values, defaultInWords: own ?? standard,
            help: help(name) + (option?.shape == .expression ? ", given as JSON" : ""))
    }

    private static func help(_ name: String) -> String { SourceOption.named(name)?.help ?? name }

    private static let numbers = [
        ("extent", "extent"), ("min-zoom", "minZoom"), ("max-zoom", "maxZoom"),
        ("min-points", "minPoints"), ("ttl", "ttlSeconds"),
    ]
    private static let expressions = [
        ("radius", "radius"), ("filter", "filter"), ("weight", "weight"), ("partition-by", "partitionBy"),
        ("sort-key", "sortKey"),
    ]

    /// What the flags say, as the daemon takes it; empty if none was given.
    static func read(_ invocation: Invocation) throws -> JSONObject {
        let arguments = invocation.arguments
        var options: JSONObject = [:]
        if let text = arguments.string("options") { options = try object(text, invocation) }
        for (flag, name) in numbers {
            if let value = arguments.number(flag) { options[name] = .number(value) }
        }
        for (flag, name) in expressions {
            if let text = arguments.string(flag) { options[name] = try invocation.json(text, of: flag) }
        }
        if let name = arguments.string("promote-id") { options["promoteId"] = .string(name) }
        if let width = arguments.string("precision") { options["precision"] = .string(width) }
        if let kind = arguments.string("geometries") { options["geometries"] = .string(kind) }
        if let kind = arguments.string("cluster-ids") { options["clusterIds"] = .string(kind) }
        if let text = arguments.string("planar") {
            options["projection"] = .object(["planar": try box(text, invocation)])
        }
        if arguments.has("generate-id") { options["generateId"] = .bool(true) }
        let properties = try arguments.strings("cluster-property").map { try property($0, invocation) }
        if !properties.isEmpty {
            var all = options["clusterProperties"]?.asObject ?? [:]
            for (name, value) in properties { all[name] = value }
            options["clusterProperties"] = .object(all)
        }
        return options
    }

    private static func box(_ text: String, _ invocation: Invocation) throws -> JSONValue {
        let edges = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard edges.count == 4, !edges.contains(nil) else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--planar': four numbers with commas are expected")
        }
        return .array(edges.map { .number($0 ?? 0) })
    }

    private static func property(_ text: String, _ invocation: Invocation) throws -> (String, JSONValue) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--cluster-property': NAME=JSON is expected")
        }
        let value = try invocation.json(String(text[text.index(after: equals)...]), of: "cluster-property")
        return (String(text[..<equals]), value)
    }

    private static func object(_ text: String, _ invocation: Invocation) throws -> JSONObject {
        let json = text.hasPrefix("@") ? try SmallFile.read(String(text.dropFirst())) : text
        guard let object = try invocation.json(json, of: "options").asObject else {
            throw invocation.arguments.usageError(
                "invalid argument for '--options': a JSON object is expected")
        }
        return object
    }
}
