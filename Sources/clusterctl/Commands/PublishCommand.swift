// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON
import Rendering

/// `clusterctl publish`: all tiles of a source, or of a file, in one PMTiles archive.
enum PublishCommand: Subcommand {
    static let table = Command(
        "publish", summary: "Write all tiles of a source or a file into one archive",
        details: [
            "ARCHIVE is a PMTiles file, which any web server or object store can serve: maps read it by range "
                + "requests, and nothing has to keep running.",
            "SOURCE is a source of the daemon, which must be started with --export-dir for the archive's directory. "
                + "If SOURCE is the name of a file, a temporary daemon reads it, and no other is needed.",
            "The size is estimated first. If it is large, a smaller --max-zoom is proposed: maps enlarge the tiles of the last zoom.",
        ],
        operands: [
            Operand("SOURCE", kind: .dynamic("sources"), help: "the source's name, or a file with points"),
            Operand("ARCHIVE", kind: .file, help: "the archive, such as cities.pmtiles"),
        ],
        options: [
            .flag("uncompressed", help: "do not compress tiles with gzip"),
            .flag("page", help: "write index.html beside the archive: a map that any web server serves"),
            .flag("watch", short: "w", help: "write again when the data change, until Ctrl-C"),
            Option(
                "every", value: "SECONDS", kind: .number(0.1...86400), default: "60",
                help: "with --watch: write at most once in this time"),
        ] + Option.params(of: .publishTiles, without: [.archivePath, .compression])
            + ImportFlags.readingOptions + ForeignFile.options + fileOptions,
        examples: [
            Example("clusterctl publish cities.geojson cities.pmtiles", "publishes a file's points"),
            Example(
                "clusterctl publish cities.geojson site/cities.pmtiles --page",
                "makes a site of a file: copy the folder to any web server"),
            Example(
                "clusterctl publish cities /srv/tiles/cities.pmtiles --max-zoom 10 --include key,expansionZoom",
                "publishes a source of the daemon"),
            Example(
                "clusterctl publish --watch --every 300 cities /srv/tiles/cities.pmtiles",
                "keeps an archive up to date"),
        ])

    /// Options of the temporary source of a file, besides those that the archive has too.
    private static let fileOptions = SourceOptionFlags.options.filter {
        !["min-zoom", "max-zoom", "filter"].contains($0.name)
    }

    static func run(_ invocation: Invocation) async throws {
        let source = try invocation.operand(0)
        let archive = SmallFile.absolute(try invocation.operand(1))
        guard !archive.lowercased().hasSuffix(".mbtiles") else {
            throw invocation.arguments.usageError(
                "the archive is PMTiles, not MBTiles: name it .pmtiles; tile-join or GDAL turn it into MBTiles"
            )
        }
        for flag in ["page", "watch"] where invocation.arguments.has("estimate") && invocation.arguments.has(flag) {
            throw invocation.arguments.usageError("--estimate writes nothing: leave --\(flag) out")
        }
        if SourceNames.isFile(source) { return try await publish(file: source, to: archive, invocation) }
        let client = try await invocation.connect()
        do { try await publish(source, to: archive, client, invocation) } catch let error as RPCError {
            throw Self.explained(error, source)
        }
        if invocation.arguments.has("watch") { try await follow(source, archive, client, invocation) }
    }

    /// An error about a source that does not exist, if its name looks like a file's.
    private static func explained(_ error: RPCError, _ name: String) -> RPCError {
        guard error.code == .notFound, name.contains(".") else { return error }
        return RPCError(.notFound, "There is neither a file nor a source \"\(name)\".", details: error.details)
    }

    /// A temporary daemon reads the file and writes the archive.
    private static func publish(file: String, to archive: String, _ invocation: Invocation) async throws {
        guard !invocation.arguments.has("watch") else {
            throw invocation.arguments.usageError("--watch needs a source of a running daemon, not a file")
        }
        let directory = archive.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let daemon = try await TemporaryDaemon.start(
            port: nil, files: [file].compactMap { RegularFile($0, invocation.arguments) },
            exportDirectory: directory.isEmpty ? "/" : directory)
        defer { daemon.stop() }
        let client = try await Client.connect(socketPath: daemon.socketPath)
        let name = SourceNames.of([file])[0]
        try await client.createSource(
            name, options: try SourceOptionFlags.read(invocation, without: ["min-zoom", "max-zoom", "filter"]))
        try await ServeCommand.load(file, into: name, client, invocation)
        try await publish(name, to: archive, client, invocation)
        client.close()
    }

    private static func publish(
        _ source: String, to archive: String, _ client: Client, _ invocation: Invocation, overwrite: Bool? = nil
    ) async throws {
        var params = try invocation.params(of: .publishTiles)
        params["source"] = .string(source)
        if invocation.arguments.has("uncompressed") { params["compression"] = .string("none") }
        // The page zooms to where a cluster separates.
        if invocation.arguments.has("page"), params["include"] == nil {
            params["include"] = .array([.string("expansionZoom")])
        }
        let estimate = try await estimate(params, client, invocation)
        if invocation.arguments.has("estimate") { return try show(estimate, invocation) }
        if let advice = advice(try estimate.value()) { invocation.remark(advice) }
        let page = invocation.arguments.has("page") ? try ArchivePage(for: archive) : nil
        let replaces = overwrite ?? invocation.arguments.has("overwrite")
        try page?.check(overwrite: replaces)
        params["path"] = .string(archive)
        params["overwrite"] = .bool(replaces)
        var bar = ProgressBar(source, total: nil)
        defer { bar.clear() }
        let clock = ContinuousClock()
        let start = clock.now
        let call = try client.openServerStream(
            "SourceService/PublishTiles", CallParams(params), options: invocation.callOptions)
        for try await item in call {
            let value = try item.value()
            bar.update(
                tiles: value["tiles"]?.asInteger ?? 0, of: value["ofTiles"]?.asInteger ?? 0,
                bytes: value["bytes"]?.asInteger ?? 0)
        }
        bar.clear()
        let answer = try await call.end()
        let elapsed = clock.now - start
        try page?.write()
        try invocation.show(answer) { value in
            let tiles = value["tiles"]?.asInteger ?? 0
            let zooms = "\(value["minZoom"]?.asInteger ?? 0) to \(value["maxZoom"]?.asInteger ?? 0)"
            let rate = Double(tiles) / max(1e-3, elapsed / .seconds(1))
            invocation.print(
                "\(value["path"]?.asString ?? archive): \(Quantity.count(tiles, "tile")) of zooms \(zooms), "
                    + "\(Quantity.bytes(Double(value["bytes"]?.asInteger ?? 0))), revision "
                    + "\(value["revision"]?.asInteger ?? 0), in \(Quantity.duration(milliseconds: elapsed / .milliseconds(1))) "
                    + "(\(Quantity.grouped(Int(rate))) tiles/s)")
            if let page {
                invocation.print(
                    "\(page.path): the map; it needs its folder and a web server with range requests")
            }
        }
    }

    // MARK: The size

    private static func estimate(
        _ params: JSONObject, _ client: Client, _ invocation: Invocation
    ) async throws -> Answer {
        var params = params
        params["estimate"] = .bool(true)
        return try await client.openServerStream(
            "SourceService/PublishTiles", CallParams(params), options: invocation.callOptions
        ).end()
    }

    /// Archives beyond this many bytes get advice.
    private static let largeBytes = 32 << 20

    /// What to do about a large archive; nil if it is small.
    static func advice(_ estimate: JSONValue) -> String? {
        let bytes = estimate["bytes"]?.asInteger ?? 0
        guard bytes > largeBytes else { return nil }
        let size = "the archive will have about \(Quantity.bytes(Double(bytes)))"
        var (sum, smaller): (Int, (zoom: Int, bytes: Int)?) = (0, nil)
        for zoom in estimate["zooms"]?.asArray ?? [] {
            sum += zoom["bytes"]?.asInteger ?? 0
            if sum <= largeBytes / 2 { smaller = (zoom["zoom"]?.asInteger ?? 0, sum) }
        }
        guard let smaller else { return size }
        return "\(size); with --max-zoom \(smaller.zoom) about \(Quantity.bytes(Double(smaller.bytes)))"
    }

    private static func show(_ estimate: Answer, _ invocation: Invocation) throws {
        try invocation.show(estimate) { value in
            var table = Table([.number("ZOOM"), .number("TILES"), .number("BYTES"), .number("UP TO HERE")])
            var sum = 0
            for zoom in value["zooms"]?.asArray ?? [] {
                let bytes = zoom["bytes"]?.asInteger ?? 0
                sum += bytes
                table.add([
                    String(zoom["zoom"]?.asInteger ?? 0), Quantity.grouped(zoom["tiles"]?.asInteger ?? 0),
                    Quantity.bytes(Double(bytes)), Quantity.bytes(Double(sum)),
                ])
            }
            invocation.print(table)
        }
    }

    /// Writes the archive again whenever the data have changed.
    private static func follow(
        _ source: String, _ archive: String, _ client: Client, _ invocation: Invocation
    ) async throws {
        let pause = Duration.seconds(try invocation.arguments.requiredNumber("every"))
        var revision = try await client.source(source).revision
        while true {
            try await Task.sleep(for: pause)
            let current = try await client.source(source).revision
            guard current != revision else { continue }
            try await publish(source, to: archive, client, invocation, overwrite: true)
            revision = current
        }
    }
}
