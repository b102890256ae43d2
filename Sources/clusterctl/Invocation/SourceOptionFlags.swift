// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import SourceEngine

/// The flags of all commands that take a source's options. Defaults are the daemon's and are not sent.
enum SourceOptionFlags {
    /// The flags for one option each, by the option's shape: the flag, the option and the value's name in help.
    private static let single = [
        ("radius", "radius", "PIXELS"), ("extent", "extent", "PIXELS"), ("min-zoom", "minZoom", "ZOOM"),
        ("max-zoom", "maxZoom", "ZOOM"), ("min-points", "minPoints", "N"),
        ("filter", "filter", "EXPRESSION"), ("promote-id", "promoteId", "NAME"),
        ("generate-id", "generateId", ""), ("weight", "weight", "EXPRESSION"),
        ("partition-by", "partitionBy", "EXPRESSION"), ("precision", "precision", "WIDTH"),
        ("geometries", "geometries", "KIND"), ("sort-key", "sortKey", "EXPRESSION"),
        ("cluster-ids", "clusterIds", "KIND"), ("ttl", "ttlSeconds", "SECONDS"),
    ]

    static let options = options()

    /// - Parameter geometries: the command's own default of `--geometries`, if it has one.
    static func options(geometries: String? = nil) -> [Option] {
        single.map { flag, name, value in
            option(flag, for: name, value: value, default: name == "geometries" ? geometries : nil)
        } + [
            Option(
                "cluster-property", short: "p", value: "NAME=JSON", isRepeatable: true,
                help: "an aggregated property of clusters, such as 'people=[\"+\",[\"get\",\"population\"]]'"),
            Option(
                "indexed-property", value: "NAME=JSON", isRepeatable: true,
                help: "a number of features for windows, tops and histograms, such as 'people=[\"get\",\"population\"]'"
            ),
            Option(
                "view", value: "NAME=JSON", isRepeatable: true,
                help:
                    "a further way to cluster the same features, such as 'food={\"radius\":60}'; queries name it SOURCE:NAME"
            ),
            Option(
                "planar", value: "X,Y,X,Y",
                help: "coordinates are units of this box (minimum x and y, maximum x and y), not degrees"),
            Option("options", value: "JSON", help: "further options as a JSON object, or @FILE to read it"),
        ]
    }

    /// A flag for an option of the daemon's table, with its values, help and default.
    private static func option(_ flag: String, for name: String, value: String, default own: String?) -> Option {
        let option = SourceOption.named(name)
        if option?.shape == .boolean { return .flag(flag, help: help(name)) }
        let values: ValueKind =
            switch option?.shape {
            case .integer(let range): .integer(Int64(range.lowerBound)...Int64(range.upperBound))
            case .positiveNumber: .number(0...1e12)
            case .oneOf(let names): .oneOf(names)
            default: .text
            }
        let standard: String? =
            switch option?.standard {
            case .string(let text): text
            case let value: value?.text
            }
        return Option(
            flag, value: value, kind: values, defaultInWords: own ?? standard,
            help: help(name) + (option?.shape == .expression ? ", given as JSON" : ""))
    }

    private static func help(_ name: String) -> String { SourceOption.named(name)?.help ?? name }

    /// The flags as options of the daemon; empty if none was given.
    ///
    /// - Parameter others: flags that the command uses for something else.
    static func read(_ invocation: Invocation, without others: Set<String> = []) throws -> JSONObject {
        let arguments = invocation.arguments
        var options: JSONObject = [:]
        if let text = arguments.string("options") { options = try object(text, invocation) }
        for (flag, name, _) in single where !others.contains(flag) {
            if let value = try value(of: flag, for: name, invocation) { options[name] = value }
        }
        if let text = arguments.string("planar") {
            options["projection"] = .object(["planar": try box(text, invocation)])
        }
        for (flag, name) in [
            ("cluster-property", "clusterProperties"), ("indexed-property", "indexedProperties"), ("view", "views"),
        ] {
            let properties = try arguments.strings(flag).map { try property($0, flag, invocation) }
            guard !properties.isEmpty else { continue }
            var all = options[name]?.asObject ?? [:]
            for (name, value) in properties { all[name] = value }
            options[name] = .object(all)
        }
        return options
    }

    /// A flag's value as the daemon expects it; nil if it was not given.
    private static func value(of flag: String, for name: String, _ invocation: Invocation) throws -> JSONValue? {
        let arguments = invocation.arguments
        switch SourceOption.named(name)?.shape {
        case .integer, .positiveNumber: return arguments.number(flag).map { .number($0) }
        case .boolean: return arguments.has(flag) ? .bool(true) : nil
        case .text, .oneOf: return arguments.string(flag).map { .string($0) }
        case .expression, .other, nil:
            return try arguments.string(flag).map { try invocation.json($0, of: flag) }
        }
    }

    private static func box(_ text: String, _ invocation: Invocation) throws -> JSONValue {
        let edges = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard edges.count == 4, !edges.contains(nil) else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--planar': four numbers with commas are expected")
        }
        return .array(edges.map { .number($0 ?? 0) })
    }

    private static func property(
        _ text: String, _ flag: String, _ invocation: Invocation
    ) throws -> (String, JSONValue) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--\(flag)': NAME=JSON is expected")
        }
        let value = try invocation.json(String(text[text.index(after: equals)...]), of: flag)
        return (String(text[..<equals]), value)
    }

    private static func object(_ text: String, _ invocation: Invocation) throws -> JSONObject {
        let json = text.hasPrefix("@") ? try SmallFile.read(String(text.dropFirst())) : text
        guard let object = try invocation.json(json, of: "options").asObject else {
            throw invocation.arguments.usageError("invalid argument for '--options': a JSON object is expected")
        }
        return object
    }
}
