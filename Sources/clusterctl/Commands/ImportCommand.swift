// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON

/// `clusterctl import`: streams a file's features into a source.
enum ImportCommand: Subcommand {
    static let table = Command(
        "import", summary: "Import points from a file or standard input into a source",
        details: [
            "FILE is a GeoJSON FeatureCollection, features one after another (newline-delimited), or a JSON text "
                + "sequence (RFC 8142), plain or gzipped, of any size; without FILE, or with -, standard input is "
                + "read. It replaces the source's points all at once, or leaves them as they are where it fails.",
            "A source that does not exist is made, with the options given. Options given for one that exists are "
                + "changed in it.",
        ],
        operands: [
            Operand(
                "SOURCE", kind: .dynamic("sources"), help: "the source's name: letters, digits, '.', '_', '-'"
            ),
            Operand("FILE", kind: .file, count: .optional, help: "the file; - or nothing for standard input"),
        ],
        options: [
            .flag("append", short: "a", help: "add to the source's points instead of replacing them"),
            .flag(
                "skip-invalid", short: "k", help: "leave bad features out and count them, instead of failing"),
        ] + SourceOptionFlags.options,
        examples: [
            Example("clusterctl import cities cities.geojson", "makes or replaces the source cities"),
            Example(
                "clusterctl import cities cities.geojson -p 'people=[\"+\",[\"get\",\"population\"]]'",
                "clusters also sum up their points' population"),
            Example("zcat a.gz b.gz | clusterctl import --append places", "adds what a pipe brings"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let source = try invocation.operand(0)
        let path = invocation.arguments.operand(1) ?? "-"
        if path == "-", isatty(STDIN_FILENO) == 1 {
            invocation.remark("reading features from standard input; end with Ctrl-D")
        }
        let options = try SourceOptionFlags.read(invocation)
        let input =
            path == "-"
            ? FeatureInput(descriptor: STDIN_FILENO, name: "standard input") : try FeatureInput(path: path)
        let name = input.name
        let client = try await invocation.connect()
        let prepared = try await SourcePreparation.prepare(source, options: options, client)
        do {
            let answer = try await transfer(input, to: source, client, invocation)
            try ImportReport.show(answer, invocation)
        } catch {
            // A source made for this import only would be left behind empty.
            if prepared == .created { try? await client.deleteSource(source) }
            throw explained(error, file: name)
        }
    }

    private static func transfer(
        _ input: consuming FeatureInput, to source: String, _ client: Client, _ invocation: Invocation
    ) async throws -> Answer {
        var bar = ProgressBar(source, total: input.length)
        defer { bar.clear() }
        let options = ImportOptions(
            appends: invocation.arguments.has("append"),
            skipsInvalid: invocation.arguments.has("skip-invalid"))
        return try await client.importFeatures(
            input, into: source, options: options, call: invocation.callOptions
        ) { progress in
            if progress.isSent {
                bar.show("\(Quantity.grouped(progress.features)) features sent; building the index…")
            } else {
                bar.update(bytes: progress.bytesRead, features: progress.features)
            }
        }
    }

    private static func explained(_ error: any Error, file: String) -> any Error {
        switch error {
        case let error as FeatureTextError: return Failure(message: "\(file): \(error)")
        case let error as RPCError where error.code == .invalidArgument:
            let reason = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
            return Failure(
                message: "\(file): \(reason); nothing was imported (--skip-invalid leaves bad features out)")
        default: return error
        }
    }
}

/// What an import says when it is done.
enum ImportReport {
    static func show(_ answer: Answer, _ invocation: Invocation) throws {
        try invocation.show(answer) { value in
            let source = try SourceDescription(value)
            var line =
                "\(source.name): \(Quantity.count(value["accepted"]?.asInteger ?? 0, "feature")) imported"
            if let skipped = value["skipped"]?.asInteger, skipped > 0 {
                line += ", \(Quantity.grouped(skipped)) skipped"
                let reasons = value["skippedReasons"]?.asObject?.members ?? []
                if !reasons.isEmpty {
                    line += " (" + reasons.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ") + ")"
                }
            }
            line += "; \(Quantity.count(source.points, "point")), revision \(source.revision)"
            line += ", index built in \(Quantity.duration(milliseconds: source.buildMilliseconds))"
            line += ", \(Quantity.bytes(Double(source.memoryBytes)))"
            invocation.print(line)
        }
    }
}
