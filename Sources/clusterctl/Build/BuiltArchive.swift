// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import Glibc
import JSON
import Rendering

/// The archive of an image's tiles, as a daemon publishes it.
enum BuiltArchive {
    /// Throws if the archive cannot be written.
    static func check(_ path: String?, _ arguments: ParsedArguments) async throws {
        guard let path else {
            if arguments.has("name") { throw arguments.usageError("--name is the layer's name of --archive") }
            return
        }
        guard arguments.has("overwrite") || access(path, F_OK) != 0 else {
            throw Failure(message: "\(path) exists already: --overwrite replaces it", status: ExitStatus.refused)
        }
    }

    /// A temporary daemon attaches the image and writes the archive.
    static func write(_ path: String, of image: String, _ invocation: Invocation, isQuiet: Bool) async throws {
        let archive = SmallFile.absolute(path)
        guard let data = RegularFile(image, invocation.arguments) else {
            throw Failure(message: "\(image) cannot be read")
        }
        let folder = archive.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let daemon = try await TemporaryDaemon.start(
            port: nil, files: [data], exportDirectory: folder.isEmpty ? "/" : folder)
        defer { daemon.stop() }
        let client = try await Client.connect(socketPath: daemon.socketPath)
        defer { client.close() }
        // The source's name is that of the layer.
        let file = String(archive.split(separator: "/").last ?? "")
        let stem = file.hasSuffix(".pmtiles") ? String(file.dropLast(8)) : file
        let source = invocation.arguments.string("name") ?? SourceNames.of([stem])[0]
        try await client.createSource(source, options: [:])
        _ = try await client.call(
            "SourceService/LoadFile", ["source": .string(source), "path": .string(data.path)])
        let params: JSONObject = [
            "source": .string(source), "path": .string(archive),
            "overwrite": .bool(invocation.arguments.has("overwrite")),
        ]
        var bar = ProgressBar(path, total: nil)
        defer { bar.clear() }
        let call = try client.openServerStream("SourceService/PublishTiles", CallParams(params))
        for try await item in call {
            let value = try item.value()
            bar.update(
                tiles: value["tiles"]?.asInteger ?? 0, of: value["ofTiles"]?.asInteger ?? 0,
                bytes: value["bytes"]?.asInteger ?? 0)
        }
        bar.clear()
        let answer = try await call.end().value()
        guard !isQuiet, !invocation.wantsJSON else { return }
        invocation.print(
            "\(path): \(Quantity.count(answer["tiles"]?.asInteger ?? 0, "tile")), "
                + Quantity.bytes(Double(answer["bytes"]?.asInteger ?? 0)))
    }
}
