// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// The flags that say how features are taken in, the same for every command that takes them in.
enum ImportFlags {
    static let options: [Option] =
        [
            .flag("append", short: "a", help: "add to the source's points instead of replacing them"),
            .flag(
                "skip-invalid", short: "k",
                help: "leave invalid features out and count them by reason, instead of failing"),
            Option(
                "on-invalid", value: "POLICY", kind: .oneOf(["reject", "skip"]),
                help: "what invalid features do: reject the import (default), or skip as --skip-invalid does"),
            .flag("allow-empty", help: "replace the source's data even if no feature is valid"),
        ] + readingOptions

    /// The flags that say how a file is read.
    static let readingOptions: [Option] = [
        .flag("wrap", help: "bring longitudes beyond 180 degrees back by whole turns"),
        Option(
            "longitude", value: "COLUMN",
            help: "a table's column of longitudes; default: longitude, lon, lng, x"),
        Option("latitude", value: "COLUMN", help: "a table's column of latitudes; default: latitude, lat, y"),
        Option("id", value: "COLUMN", help: "a table's column of ids; default: id, if there is one"),
        Option(
            "delimiter", value: "CHARACTER",
            help: "what separates a table's cells, or 'tab'; default: detected"),
        Option("text", value: "COLUMN", isRepeatable: true, help: "a table's column whose cells stay text"),
    ]

    static func skipsInvalid(_ arguments: ParsedArguments) -> Bool {
        arguments.has("skip-invalid") || arguments.string("on-invalid") == "skip"
    }

    /// The flags as params of a call that reads a file itself.
    static func params(_ arguments: ParsedArguments) throws -> JSONObject {
        var params: JSONObject = [
            "mode": .string(arguments.has("append") ? "append" : "replace"),
            "onInvalid": .string(skipsInvalid(arguments) ? "skip" : "reject"),
        ]
        if arguments.has("wrap") { params["wrap"] = .bool(true) }
        if arguments.has("allow-empty") { params["allowEmpty"] = .bool(true) }
        for name in ["longitude", "latitude", "id", "delimiter"] {
            if let value = arguments.string(name) { params[name] = .string(value) }
        }
        let text = arguments.strings("text")
        if !text.isEmpty { params["text"] = .array(text.map { .string($0) }) }
        return params
    }

    /// The flags as an import that this program reads.
    static func importOptions(_ arguments: ParsedArguments) throws -> ImportOptions {
        var options = ImportOptions(
            appends: arguments.has("append"), skipsInvalid: skipsInvalid(arguments))
        options.wrapsLongitudes = arguments.has("wrap")
        options.allowsEmpty = arguments.has("allow-empty")
        options.columns.longitude = arguments.string("longitude")
        options.columns.latitude = arguments.string("latitude")
        options.columns.id = arguments.string("id")
        options.columns.text = Set(arguments.strings("text"))
        if let name = arguments.string("delimiter") {
            guard let delimiter = TableColumns.delimiter(named: name) else {
                throw arguments.usageError(
                    "invalid argument '\(name)' for '--delimiter': one character or 'tab' is expected")
            }
            options.columns.delimiter = delimiter
        }
        return options
    }
}
