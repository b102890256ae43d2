// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl load`: has the daemon read a file itself.
enum LoadCommand: Subcommand {
    static let table = Command(
        "load", summary: "Have the daemon read a file on its machine into a source",
        details: [
            "The file must lie below one of the directories that the daemon was started with (--import-dir); "
                + "'import' has no such limit. A source that does not exist is created."
        ], operands: [.source, Operand("PATH", kind: .file, help: "the file, as the daemon sees it")],
        options: ImportFlags.options + SourceOptionFlags.options,
        examples: [Example("clusterctl load places /srv/geo/places.geojson.gz", "reads a gzipped file")])

    static func run(_ invocation: Invocation) async throws {
        let source = try invocation.operand(0)
        let path = try invocation.operand(1)
        let client = try await invocation.connect()
        let options = try SourceOptionFlags.read(invocation)
        let prepared = try await SourcePreparation.prepare(source, options: options, client)
        do {
            var params = try ImportFlags.params(invocation)
            params["source"] = .string(source)
            params["path"] = .string(SmallFile.absolute(path))
            let answer = try await client.call(
                "SourceService/LoadFile", CallParams(params), options: invocation.callOptions)
            try prepared.check(answer, of: path, invocation.arguments)
            try ImportReport.show(answer, invocation)
        } catch {
            if prepared == .created { try? await client.deleteSource(source) }
            throw FileImport.explained(error, file: path)
        }
    }
}
