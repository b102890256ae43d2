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
            .param(.onInvalid), .param(.allowEmpty),
        ] + readingOptions

    /// The flags about how a file is read.
    static let readingOptions: [Option] = [
        .param(.wrap), .param(.longitude), .param(.latitude), .param(.idColumn), .param(.delimiter),
        .param(.text, isRepeatable: true),
    ]

    static func skipsInvalid(_ arguments: ParsedArguments) -> Bool {
        arguments.has("skip-invalid") || arguments.string("on-invalid") == "skip"
    }

    /// The flags as params of a call that reads a file itself.
    static func params(_ invocation: Invocation) throws -> JSONObject {
        let arguments = invocation.arguments
        var params = try invocation.params(of: ParamDeclaration.imports + ParamDeclaration.table)
        params["mode"] = .string(arguments.has("append") ? "append" : "replace")
        params["onInvalid"] = .string(skipsInvalid(arguments) ? "skip" : "reject")
        let text = arguments.strings("text")
        if !text.isEmpty { params["text"] = .array(text.map { .string($0) }) }
        return params
    }

    /// The flags as an import that this program reads.
    static func importOptions(_ arguments: ParsedArguments) throws -> ImportOptions {
        var options = ImportOptions(appends: arguments.has("append"), skipsInvalid: skipsInvalid(arguments))
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
