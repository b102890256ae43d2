// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import Glibc
import JSON

/// `clusterctl import`: streams a file's features into a source.
enum ImportCommand: Subcommand {
    static let table = Command(
        "import", summary: "Import points from a file or standard input into a source",
        details: [
            "FILE is a GeoJSON FeatureCollection, features one after another (newline-delimited), a JSON text "
                + "sequence (RFC 8142), or a table with a header (CSV, TSV), plain or gzipped, of any size; without "
                + "FILE, or with -, standard input is read. It replaces the source's points all at once, or leaves "
                + "them unchanged if it fails.",
            "Shapefiles, GeoPackages, FlatGeobuf, KML, GPX and what else GDAL knows are read through its ogr2ogr "
                + "(gdal-bin), in longitude and latitude.",
            "A source that does not exist is created, with the given options. The options of one that exists are "
                + "changed to those given.",
        ],
        operands: [
            Operand("SOURCE", kind: .dynamic("sources"), help: "the source's name: letters, digits, '.', '_', '-'"),
            Operand("FILE", kind: .file, count: .optional, help: "the file; - or nothing for standard input"),
        ],
        options: ImportFlags.options + [
            Option(
                "rejects", value: "FILE", kind: .file,
                help: "leave invalid features out and write them there, with line, id and reason")
        ] + ForeignFile.options + SourceOptionFlags.options,
        examples: [
            Example("clusterctl import cities cities.geojson", "creates or replaces the source cities"),
            Example(
                "clusterctl import cities cities.geojson -p 'people=[\"+\",[\"get\",\"population\"]]'",
                "clusters also sum up their points' population"),
            Example(
                "clusterctl import stops stops.csv --longitude stop_lon --latitude stop_lat", "reads a table"),
            Example(
                "clusterctl import towns towns.gpkg --layer places", "reads a GeoPackage through ogr2ogr"),
            Example("zcat a.gz b.gz | clusterctl import --append places", "adds what a pipe brings"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let source = try invocation.operand(0)
        let path = invocation.arguments.operand(1) ?? "-"
        if invocation.arguments.operand(1) == nil, SourceNames.isFile(source) {
            throw invocation.arguments.usageError(
                "missing operand SOURCE before '\(source)': clusterctl import \(SourceNames.of([source])[0]) \(source)")
        }
        if path == "-", isatty(STDIN_FILENO) == 1 {
            invocation.remark("reading features from standard input; end with Ctrl-D")
        }
        let options = try SourceOptionFlags.read(invocation)
        var importOptions = try ImportFlags.importOptions(invocation.arguments)
        let rejects = try invocation.arguments.string("rejects").map { try RejectsFile(path: $0) }
        if let rejects {
            importOptions.skipsInvalid = true
            importOptions.onSkipped = { rejects.write($0) }
        }
        let input = try FileImport.open(path, invocation.arguments)
        let name = input.name
        let client = try await invocation.connect()
        let prepared = try await SourcePreparation.prepare(source, options: options, client)
        do {
            let answer = try await FileImport.transfer(input, to: source, importOptions, client, invocation)
            try prepared.check(answer, of: name, invocation.arguments)
            try ImportReport.show(answer, invocation)
        } catch {
            try? rejects?.finish()
            // Otherwise a source created for this import would be left behind empty.
            if prepared == .created { try? await client.deleteSource(source) }
            throw FileImport.explained(error, file: name)
        }
        try rejects?.finish()
    }
}
