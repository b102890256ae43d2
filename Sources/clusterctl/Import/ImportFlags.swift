// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import GeoJSON
import JSON

/// The flags that all importing commands share.
enum ImportFlags {
    static let options: [Option] =
        [
            .flag("append", short: "a", help: "add to the source's points instead of replacing them"),
            .flag(
                "skip-invalid", short: "k",
                help: "leave invalid features out and count them by reason, instead of failing"),
            Option(
                "on-invalid", value: "POLICY", kind: .oneOf(["reject", "skip"]),
                defaultInWords: ParamDefaults.onInvalid,
                help: "what to do about invalid features: reject the import, or skip them"),
            .flag("allow-empty", help: "replace the source's data even if no feature is valid"),
        ] + readingOptions

    /// The flags about how a file is read.
    static let readingOptions: [Option] = [
        .flag("wrap", help: "wrap longitudes beyond 180 degrees around"),
        Option(
            "longitude", value: "COLUMN", defaultInWords: "longitude, lon, lng, long, x",
            help: "a table's column of longitudes"),
        Option(
            "latitude", value: "COLUMN", defaultInWords: "latitude, lat, y",
            help: "a table's column of latitudes"),
        Option("id", value: "COLUMN", defaultInWords: "id, if there is one", help: "a table's column of ids"),
        Option(
            "delimiter", value: "CHARACTER", defaultInWords: "detected",
            help: "what separates a table's cells, or 'tab'"),
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
