// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// The flags that say how a source clusters, the same for every command that takes them.
enum SourceOptionFlags {
    static let options: [Option] = [
        Option("radius", value: "PIXELS", kind: .number(0...1e6), help: "cluster radius; default 40"),
        Option(
            "extent", value: "PIXELS", kind: .number(1...1e9),
            help: "tile size that the radius refers to; default 512"),
        Option(
            "min-zoom", value: "ZOOM", kind: .integer(0...24), help: "lowest zoom with clusters; default 0"),
        Option(
            "max-zoom", value: "ZOOM", kind: .integer(0...24), help: "highest zoom with clusters; default 16"),
        Option(
            "min-points", value: "N", kind: .integer(1...1_000_000_000),
            help: "fewest points of a cluster; default 2"),
        Option(
            "cluster-property", short: "p", value: "NAME=JSON", isRepeatable: true,
            help: "a property that clusters gather, such as 'people=[\"+\",[\"get\",\"population\"]]'"),
        Option("filter", value: "EXPRESSION", help: "load only the features that pass, given as JSON"),
        Option("promote-id", value: "NAME", help: "a property to use as the feature's id"),
        .flag("generate-id", help: "number the features"),
        Option(
            "weight", value: "EXPRESSION", help: "a point's weight in its cluster's centre, given as JSON"),
        Option(
            "partition-by", value: "EXPRESSION", help: "cluster only what is alike in this, given as JSON"),
        Option(
            "precision", value: "WIDTH", kind: .oneOf(["float", "fixed", "double"]),
            help: "how coordinates are compared"),
        Option(
            "geometries", value: "KIND", kind: .oneOf(["point", "multipoint", "centroid", "inside"]),
            help: "which geometries are taken, and where they are placed; default: point"),
        Option(
            "sort-key", value: "EXPRESSION",
            help: "cluster features in ascending order of this instead of input order, given as JSON"),
        Option(
            "cluster-ids", value: "KIND", kind: .oneOf(["index", "origin"]),
            help: "what clusters' ids are made from; origin keeps them the same over changes; default: index"),
        Option(
            "planar", value: "X,Y,X,Y",
            help: "coordinates are units of this box (minimum x and y, maximum x and y), not degrees"),
        Option("ttl", value: "SECONDS", kind: .number(0...1e12), help: "how long a feature stays"),
        Option("options", value: "JSON", help: "further options as a JSON object, or @FILE to read it"),
    ]

    private static let numbers = [
        ("radius", "radius"), ("extent", "extent"), ("min-zoom", "minZoom"), ("max-zoom", "maxZoom"),
        ("min-points", "minPoints"), ("ttl", "ttlSeconds"),
    ]
    private static let expressions = [
        ("filter", "filter"), ("weight", "weight"), ("partition-by", "partitionBy"),
        ("sort-key", "sortKey"),
    ]

    /// What the flags say, as the daemon takes it; empty where none was given.
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
