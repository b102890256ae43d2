// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Images that clusterctl builds") struct BuildTests {
    private static let options =
        #"{"clusterIds":"origin","sortKey":["hash",["id"]],"clusterProperties":{"sum":["+",["get","value"]]}}"#

    private final class Folder {
        let path = NSTemporaryDirectory() + "clusterd-image-" + UUID().uuidString.prefix(8)
        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// A folder with a file of points and the image that was built of it.
    private func built(_ count: Int, _ arguments: [String] = []) throws -> Folder {
        let folder = try Folder()
        let generated = try DaemonProcess.run(
            "clusterctl", ["generate", "gathered", String(count), "--lines", "-o", folder.path + "/points.geojsonl"])
        #expect(generated.status == 0, "\(generated.errors)")
        let result = try build(folder, ["--shards", "9", "--workers", "2"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return folder
    }

    private func build(
        _ folder: Folder, _ arguments: [String]
    ) throws -> (status: Int32, output: String, errors: String) {
        try DaemonProcess.run(
            "clusterctl",
            [
                "build", folder.path + "/points.clusterd", folder.path + "/points.geojsonl", "--memory", "64M",
                "--options", Self.options,
            ] + arguments)
    }

    private func answers(_ client: RawClient, _ source: String) throws -> [JSONValue] {
        try [0, 4, 8, 12, 17].map { (zoom: Double) -> JSONValue in
            let query: JSONValue = [
                "source": .string(source), "bbox": [-180, -85, 180, 85], "zoom": .number(zoom), "limit": 3000,
            ]
            return try client.call("ClusterService/GetClusters", query)["features"] ?? .null
        }
    }

    @Test("are attached by load, answer as an import does, survive restarts and refuse changes")
    func load() throws {
        let folder = try built(20_000)
        let state = folder.path + "/state"
        var daemon = try DaemonProcess(["--import-dir", folder.path, "--state-dir", state])
        func run(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
            try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath] + arguments)
        }
        let image = folder.path + "/points.clusterd"
        let loaded = try run(["load", "image", image])
        #expect(loaded.status == 0 && loaded.output.contains("20,000 points"), "\(loaded.errors)")
        let imported = try run(["load", "import", folder.path + "/points.geojsonl", "--options", Self.options])
        #expect(imported.status == 0, "\(imported.errors)")
        let expected = try answers(daemon.client(), "import")
        let isSame = try answers(daemon.client(), "image") == expected
        #expect(isSame, "an image answers otherwise than an import")
        let refused = try daemon.client().failure(
            "SourceService/UpdateFeatures", ["source": "image", "remove": [1]])
        #expect(refused.status == "FAILED_PRECONDITION" && refused.message.contains("is the image"))
        let options = try daemon.client().failure(
            "SourceService/UpdateOptions", ["source": "image", "options": [:]])
        #expect(options.status == "FAILED_PRECONDITION")

        #expect(daemon.end() == 0)
        daemon = try DaemonProcess(["--import-dir", folder.path, "--state-dir", state])
        let isSameAgain = try answers(daemon.client(), "image") == expected
        #expect(isSameAgain, "an image answers otherwise after a restart")
        let check = try DaemonProcess.run("clusterctl", ["state", "check", state])
        #expect(check.status == 0 && check.output.contains("points.clusterd"), "\(check.output)\(check.errors)")
        #expect(try run(["delete", "image"]).status == 0)
        #expect(FileManager.default.fileExists(atPath: image))
    }

    @Test("are read by a declared source, and read again when another is built")
    func declared() throws {
        let folder = try built(500)
        let configuration = folder.path + "/clusterd.json"
        try #"{"sources":{"points":{"image":"\#(folder.path)/points.clusterd"}}}"#.write(
            toFile: configuration, atomically: true, encoding: .utf8)
        let daemon = try DaemonProcess(["--config", configuration])
        // It is attached before the daemon is ready.
        let attached = try daemon.client().call("SourceService/GetSource", ["source": "points"])
        #expect(attached["points"] == 500, "\(attached.text)")
        let more = try DaemonProcess.run(
            "clusterctl", ["generate", "uniform", "700", "--lines", "-o", folder.path + "/points.geojsonl"])
        #expect(more.status == 0)
        #expect(try build(folder, ["--overwrite"]).status == 0)
        #expect(daemon.notify.wait(for: "STATUS=1 source, 700 points"))
    }

    @Test("are built with an archive of their tiles, equal to the one that a daemon publishes of an import")
    func archive() throws {
        let folder = try built(3000)
        let result = try build(
            folder, ["--overwrite", "--archive", folder.path + "/points.pmtiles", "--name", "places"])
        #expect(result.status == 0, "\(result.errors)")
        let daemon = try DaemonProcess(["--import-dir", folder.path, "--export-dir", folder.path])
        for arguments in [
            ["load", "places", folder.path + "/points.geojsonl", "--options", Self.options],
            ["publish", "places", folder.path + "/expected.pmtiles"],
        ] {
            let result = try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath] + arguments)
            #expect(result.status == 0, "\(result.errors)")
        }
        let archives = try ["points", "expected"].map {
            try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\($0).pmtiles"))
        }
        let isSame = archives[0] == archives[1]
        #expect(isSame, "\(archives.map(\.count)) bytes")
    }

    @Test("are the same after the disk was full at one file after another, and each time the error says what to do")
    func fullDisk() throws {
        let folder = try built(20_000)
        let image = URL(fileURLWithPath: folder.path + "/points.clusterd")
        let expected = try Data(contentsOf: image)
        try FileManager.default.removeItem(at: image)
        let program = DaemonProcess.products.appendingPathComponent("clusterctl").path
        var (failures, isDone) = (0, false)
        for kibibytes in [64, 400, 1000, 1500, 3000, 5000, 40_000] where !isDone {
            let result = try DaemonProcess.run(
                "/bin/bash",
                [
                    "-c", "ulimit -f \(kibibytes); exec \"$0\" \"$@\"", program, "build", image.path,
                    folder.path + "/points.geojsonl", "--memory", "64M", "--shards", "9", "--options", Self.options,
                ] + (failures > 0 ? ["--resume"] : []))
            isDone = result.status == 0
            guard !isDone else { break }
            failures += 1
            #expect(result.status == 1, "\(result.status): \(result.errors)")
            #expect(
                result.errors.contains(folder.path) && result.errors.contains("ake room")
                    && result.errors.contains("--resume"), "\(kibibytes) KiB: \(result.errors)")
        }
        #expect(isDone && failures > 2, "\(failures) failures")
        let isSame = try Data(contentsOf: image) == expected
        #expect(isSame, "the image depends on where the disk was full")
    }

    @Test("are the same if fewer files may be open than a level has parts")
    func fewOpenFiles() throws {
        let folder = try built(20_000)
        let image = URL(fileURLWithPath: folder.path + "/points.clusterd")
        let expected = try Data(contentsOf: image)
        let program = DaemonProcess.products.appendingPathComponent("clusterctl").path
        let result = try DaemonProcess.run(
            "/bin/bash",
            [
                "-c", "ulimit -n 80; exec \"$0\" \"$@\"", program, "build", image.path,
                folder.path + "/points.geojsonl", "--memory", "64M", "--shards", "100", "--options", Self.options,
                "--overwrite", "--output", "json",
            ])
        try #require(result.status == 0, "\(result.errors)")
        let summary = try JSONReader.parse(result.output)
        let group = summary["groups"]?.asArray?.first
        #expect(group?["parts"]?.asInteger ?? 0 > 100, "\(summary.text)")
        // A node takes more than a byte in a file.
        let nodes = 20_000 + (group?["copies"]?.asInteger ?? 0)
        #expect(group?["bytes"]?.asInteger ?? 0 > nodes, "\(summary.text)")
        let isSame = try Data(contentsOf: image) == expected
        #expect(isSame, "the image depends on how many files may be open")
    }

    @Test("name the line of an invalid feature, and do not replace a file without being asked")
    func refusals() throws {
        let folder = try built(50)
        let again = try build(folder, [])
        #expect(again.status == 5 && again.errors.contains("--overwrite"), "\(again.errors)")
        let path = folder.path + "/points.geojsonl"
        let own = try build(folder, ["--overwrite", "--temporary", folder.path])
        #expect(own.status == 5 && own.errors.contains("not of a build"), "\(own.errors)")
        #expect(FileManager.default.fileExists(atPath: path), "a build has removed what was not its own")
        var lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        lines[6] = #"{"type":"Feature","geometry":null,"properties":{}}"#
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let invalid = try build(folder, ["--overwrite"])
        #expect(invalid.status == 5 && invalid.errors.contains("points.geojsonl:7: "), "\(invalid.errors)")
        let skipped = try build(folder, ["--overwrite", "--on-invalid", "skip"])
        #expect(skipped.status == 0 && skipped.output.contains("1 skipped"), "\(skipped.output)\(skipped.errors)")
    }
}
