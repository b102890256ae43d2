// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import Glibc
import JSON
import Rendering
import SystemSupport

/// `clusterctl serve`: a map of the user's own files in the browser.
enum ServeCommand: Subcommand {
    static let table = Command(
        "serve", summary: "Show files on a map in the browser",
        details: [
            "Starts a temporary daemon for these files, with a map page at a free port of this machine, prints the "
                + "page's address and opens it if there is a desktop. Each file becomes a source named after it; "
                + "without a file, the page shows a sample of 505 cities. Ctrl-C ends the daemon and removes everything.",
            "Features that cannot be shown are left out and counted. Nothing is sent to anywhere else.",
        ],
        operands: [
            Operand(
                "FILE", kind: .file, count: .any,
                help: "a file as 'import' takes it, an address that begins with http:// or https://, "
                    + "or - for standard input")
        ],
        options: [
            Option(
                "port", value: "PORT", kind: .integer(1...65535), defaultInWords: "a free one", help: "the page's port"),
            .flag("no-open", help: "do not open the browser"),
            Option(
                "basemap", value: "URL",
                help: "raster tiles to show below the circles, with {z}, {x} and {y}; the browser loads them"),
            Option("attribution", value: "TEXT", help: "what the basemap's terms want shown with it"),
        ] + ImportFlags.readingOptions + ForeignFile.options + SourceOptionFlags.options(geometries: geometries),
        examples: [
            Example("clusterctl serve", "shows the sample"),
            Example("clusterctl serve cities.geojson", "shows the cities"),
            Example("clusterctl serve --port 8080 cafes.geojson schools.csv.gz", "shows two files at port 8080"),
        ])

    /// Areas and lines are shown at a position on them.
    private static let geometries = "inside"

    static func run(_ invocation: Invocation) async throws {
        var options = try SourceOptionFlags.read(invocation)
        let files = try files(invocation, &options)
        if options["geometries"] == nil { options["geometries"] = .string(geometries) }
        let daemon = try await TemporaryDaemon.start(
            port: invocation.arguments.integer("port").map { UInt16(clamping: $0) } ?? 0,
            files: files.compactMap { RegularFile($0, invocation.arguments) },
            configuration: try basemap(invocation.arguments))
        let interruption = Interruption {
            daemon.stop()
            exit(0)
        }
        defer {
            daemon.stop()
            withExtendedLifetime(interruption) {}
        }
        let names = SourceNames.of(files)
        let client = try await Client.connect(socketPath: daemon.socketPath)
        for (file, name) in zip(files, names) {
            try await client.createSource(name, options: options)
            try await load(file, into: name, client, invocation)
        }
        client.close()
        announce(names, try daemon.pageAddress(), invocation)
        throw await daemon.untilEnded()
    }

    /// The files to show. Fails early for those that cannot be read.
    private static func files(_ invocation: Invocation, _ options: inout JSONObject) throws -> [String] {
        let files = invocation.arguments.operands
        guard !files.isEmpty else {
            guard
                let sample = Installation.path(of: "sample/cities.geojson", source: "Examples/cities.geojson")
            else { throw Failure(message: "the sample is not installed: name a file") }
            if options["clusterProperties"] == nil {
                let population = JSONValue.array([.string("get"), .string("population")])
                options["clusterProperties"] = ["people": .array([.string("+"), population])]
            }
            return [sample]
        }
        guard files.count(where: { $0 == "-" }) <= 1 else {
            throw invocation.arguments.usageError("standard input can be read only once: '-' is given twice")
        }
        for file in files where file != "-" && RemoteFile(file) == nil {
            if !ForeignFile.isForeign(file, invocation.arguments) { _ = try FeatureInput(path: file) }
        }
        return files
    }

    /// The configuration of a daemon that shows another map below the circles; nil if none is named.
    private static func basemap(_ arguments: ParsedArguments) throws -> JSONObject? {
        guard let url = arguments.string("basemap") else {
            guard !arguments.has("attribution") else {
                throw arguments.usageError("--attribution is for --basemap, which is missing")
            }
            return nil
        }
        let isTiles = ["{z}", "{x}", "{y}"].allSatisfy { url.firstRange(of: $0) != nil }
        guard url.hasPrefix("https://") || url.hasPrefix("http://"), isTiles else {
            throw arguments.usageError("--basemap must be a web address with {z}, {x} and {y}")
        }
        return [
            "http": .object([
                "basemap": .object(["url": .string(url), "attribution": .string(arguments.string("attribution") ?? "")])
            ])
        ]
    }

    /// Loads a file into a source of a `TemporaryDaemon`, and reports what was skipped.
    static func load(_ file: String, into source: String, _ client: Client, _ invocation: Invocation) async throws {
        let answer: Answer
        do {
            answer = try await load(file, into: source, skipsInvalid: true, client, invocation)
        } catch { throw FileImport.explained(error, file: file) }
        if !invocation.wantsJSON { try ImportReport.show(answer, invocation) }
        let value = try answer.value()
        if value["accepted"]?.asInteger == 0, (value["skipped"]?.asInteger ?? 0) > 0 {
            throw await nothing(in: file, for: source, client, invocation)
        }
        guard (value["accepted"]?.asInteger ?? 0) > 0 else {
            throw Failure(message: "\(file): it has no features, so there is nothing to show")
        }
    }

    /// Reads the file once more, so that the error of its first feature says why nothing can be shown.
    private static func nothing(
        in file: String, for source: String, _ client: Client, _ invocation: Invocation
    ) async -> Failure {
        var reason: String?
        if file == "-" { return Failure(message: "standard input: none of its features can be shown") }
        do {
            _ = try await load(file, into: source, skipsInvalid: false, client, invocation)
        } catch { reason = FileImport.reason(error) }
        return Failure(
            message: "\(file): none of its features can be shown" + (reason.map { ". \($0)" } ?? ""))
    }

    private static func load(
        _ file: String, into source: String, skipsInvalid: Bool, _ client: Client, _ invocation: Invocation
    ) async throws -> Answer {
        if let file = RegularFile(file, invocation.arguments) {
            return try await load(file, into: source, skipsInvalid: skipsInvalid, client, invocation)
        }
        var options = try ImportFlags.importOptions(invocation.arguments)
        options.skipsInvalid = skipsInvalid
        let input = try FileImport.open(file, invocation.arguments)
        return try await FileImport.transfer(input, to: source, options, client, invocation)
    }

    /// Lets the daemon read the file itself, which is several times as fast as sending it.
    private static func load(
        _ file: RegularFile, into source: String, skipsInvalid: Bool, _ client: Client, _ invocation: Invocation
    ) async throws -> Answer {
        var params = try ImportFlags.params(invocation)
        params["source"] = .string(source)
        params["path"] = .string(file.path)
        params["onInvalid"] = .string(skipsInvalid ? "skip" : "reject")
        var bar = ProgressBar(source, total: file.bytes)
        defer { bar.clear() }
        bar.show("reading \(Quantity.bytes(Double(file.bytes))) and building the index…")
        return try await client.call("SourceService/LoadFile", CallParams(params), options: invocation.callOptions)
    }

    private static func announce(_ names: [String], _ address: String, _ invocation: Invocation) {
        let page = address + (names.count == 1 ? "?source=\(names[0])" : "")
        invocation.show(["url": .string(page), "sources": .array(names.map(JSONValue.string))]) {
            invocation.print("Map: \(page)")
            invocation.remark("Press Ctrl-C to end.")
        }
        if !invocation.arguments.has("no-open") { Program.open(page) }
    }
}
