// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl export`: a source's features, as they were imported.
enum ExportCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "export", summary: "Write a source's features to a file or standard output",
        details: [
            "All features are of one revision, in the order in which the source has them. They are streamed, so their "
                + "number does not matter. A file appears when it is complete. Areas and lines that were placed at a "
                + "point, by --geometries, are exported as these points."
        ],
        operands: [
            .source,
            Operand(
                "FILE", kind: .file, count: .optional, help: "the file; - or nothing for standard output"),
        ],
        options: [
            Option(
                "format", short: "f", value: "FORMAT", kind: .oneOf(Format.allCases.map(\.rawValue)),
                defaultInWords: "as --output says, else by FILE's ending, else geojson",
                help: "a FeatureCollection, lines with one feature each, or a table")
        ] + Option.params(of: .getFeatures),
        examples: [
            Example("clusterctl export cities cities.geojson", "writes a FeatureCollection"),
            Example("clusterctl export cities --format lines | gzip > cities.ndjson.gz", "streams lines"),
            Example(
                "clusterctl export cities big.csv --properties name,population --filter "
                    + "'[\">\",[\"get\",\"population\"],1e6]'", "writes a table of large cities"),
        ])

    enum Format: String, CaseIterable {
        case geojson, lines, csv

        init?(ending path: String) {
            let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
            switch ending {
            case "csv": self = .csv
            case "ndjson", "jsonl", "geojsonl", "geojsons": self = .lines
            default: return nil
            }
        }

        /// The format that --output or --json asks for; nil if it does not name one.
        init?(_ form: OutputForm) {
            switch form {
            case .json, .geojson: self = .geojson
            case .csv: self = .csv
            case .table: return nil
            }
        }
    }

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let path = arguments.operand(1)
        let format =
            arguments.string("format").flatMap { Format(rawValue: $0) } ?? Format(invocation.form)
            ?? path.flatMap { Format(ending: $0) } ?? .geojson
        let params = try invocation.params(of: .getFeatures)
        let names = params["properties"]?.asArray?.compactMap(\.asString)
        let client = try await invocation.connect()
        defer { client.close() }
        let stream = FeatureStream(client: client, params: params, options: invocation.callOptions)
        let file = try OutputFile(path)
        let (revision, count) =
            switch format {
            case .geojson: try await writeCollection(stream, file)
            case .lines: try await writeLines(stream, file)
            case .csv: try await writeTable(stream, names, file)
            }
        try file.finish()
        invocation.remark("\(Quantity.count(count, "feature")), revision \(Quantity.plain(revision))")
    }

    private static func writeCollection(
        _ stream: FeatureStream, _ file: OutputFile
    ) async throws -> (revision: Double, count: Int) {
        var isFirst = true
        // The header is written after the daemon has answered, so that nothing is written for a missing source.
        func begin() throws {
            if isFirst { try file.write("{\"type\":\"FeatureCollection\",\"features\":[\n") }
        }
        let outcome = try await stream.forEach { feature in
            try begin()
            if !isFirst { try file.write(",\n") }
            isFirst = false
            try file.write(feature)
        }
        try begin()
        try file.write("\n]}\n")
        return outcome
    }

    private static func writeLines(
        _ stream: FeatureStream, _ file: OutputFile
    ) async throws -> (revision: Double, count: Int) {
        try await stream.forEach { feature in
            // A feature's text may contain line breaks.
            try file.write(Array(feature.split { $0 == 10 || $0 == 13 }.joined(separator: " ".utf8)))
            try file.write("\n")
        }
    }

    /// A table's columns are known only after all features have been seen, so they are read twice, at one revision.
    private static func writeTable(
        _ stream: FeatureStream, _ names: [String]?, _ file: OutputFile
    ) async throws -> (revision: Double, count: Int) {
        var (columns, known): ([String], Set<String>) = (names ?? [], [])
        var revision: Double?
        if names == nil {
            revision = try await stream.forEach { feature in
                CSVText.names(of: [try JSONReader.parse(feature)], into: &columns, &known)
            }.revision
        }
        let text = CSVText(names: columns)
        try file.write(text.header)
        return try await stream.forEach(revision: revision) { feature in
            try file.write(text.row(try JSONReader.parse(feature)))
        }
    }
}

/// The features of a source at one revision, as the daemon streams them.
struct FeatureStream {
    let client: Client
    let params: JSONObject
    let options: CallOptions

    /// Passes each feature's text, in order.
    ///
    /// - Parameter revision: the required revision; nil for the current one.
    /// - Returns: the revision and the number of features.
    func forEach(
        revision: Double? = nil, _ body: ([UInt8]) throws -> Void
    ) async throws -> (revision: Double, count: Int) {
        var params = params
        if let revision { params["revision"] = .number(revision) }
        var (number, count) = (0.0, 0)
        for try await page in try client.openServerStream(
            "SourceService/GetFeatures", CallParams(params), options: options)
        {
            let document = try JSONDocument(page.bytes, maximumDepth: JSONReader.maximumDepth + 4)
            try document.withRoot { root in
                number = root["revision"]?.number ?? number
                guard let features = root["features"] else { return }
                for feature in features.elements {
                    count += 1
                    try body(Array(feature.rawText))
                }
            }
        }
        return (number, count)
    }
}
