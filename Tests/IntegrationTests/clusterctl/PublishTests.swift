// SPDX-License-Identifier: MIT
import ClusterClient
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Archives that the daemon writes") struct PublishTests {
    /// Publishes the cities and lets another implementation read the archive, tile by tile beside GetTile.
    @Test("have GetTile's tiles in another reader of PMTiles") func anotherReader() throws {
        guard try Self.python("import pmtiles").status == 0 else {
            print("PublishTests: PyPI's pmtiles is not installed; the archive is not read by it")
            return
        }
        let folder = NSTemporaryDirectory() + "clusterd-publish-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = try DaemonProcess(["--export-dir", folder])
        let result = try Self.python(Self.script, [daemon.socketPath, folder])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("tiles agree\n"))
    }

    @Test("are written by clusterctl from a file, without a daemon of the user's") func command() throws {
        let folder = NSTemporaryDirectory() + "clusterd-publish-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let arguments = ["publish", Self.root + "/Examples/cities.geojson", folder + "/c.pmtiles", "--max-zoom", "5"]
        let first = try DaemonProcess.run("clusterctl", arguments)
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.contains("tiles of zooms 0 to 5"))
        let second = try DaemonProcess.run("clusterctl", arguments)
        #expect(second.status != 0)
        #expect(second.errors.contains("exists"))
        let filter = #"[">",["get","population"],["/",1e7,["+",1,["zoom"]]]]"#
        let third = try DaemonProcess.run("clusterctl", arguments + ["--overwrite", "--filter", filter])
        #expect(third.status == 0, "\(third.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["c.pmtiles"])
    }

    @Test("come with a page and its files, which replace others only if asked to") func page() throws {
        let folder = NSTemporaryDirectory() + "clusterd-publish-é-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let arguments = [
            "publish", Self.root + "/Examples/cities.geojson", folder + "/my cities.pmtiles", "--max-zoom", "2",
        ]
        let estimate = try DaemonProcess.run("clusterctl", arguments + ["--estimate"])
        #expect(estimate.status == 0, "\(estimate.errors)")
        #expect(estimate.output.contains("ZOOM  TILES"), "\(estimate.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        let first = try DaemonProcess.run("clusterctl", arguments + ["--page"])
        #expect(first.status == 0, "\(first.errors)")
        let page = folder + "/index.html"
        #expect(first.output.contains(page), "\(first.output)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(names == ["index.html", "map", "my cities.pmtiles"])
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(text.contains(#"content="./my%20cities.pmtiles""#))
        // All that the page and its scripts name is there.
        for name in ["map/published.js", "map/leaflet/leaflet.js", "map/ground/ground.pmtiles", "map/panel/panel.js"] {
            #expect(FileManager.default.isReadableFile(atPath: "\(folder)/\(name)"), "\(name)")
        }
        try "mine".write(toFile: page, atomically: true, encoding: .utf8)
        try FileManager.default.removeItem(atPath: folder + "/my cities.pmtiles")
        let second = try DaemonProcess.run("clusterctl", arguments + ["--page"])
        #expect(second.status != 0)
        #expect(second.errors.contains("index.html exists; --overwrite replaces it"), "\(second.errors)")
        #expect(try String(contentsOfFile: page, encoding: .utf8) == "mine")
        #expect(try DaemonProcess.run("clusterctl", arguments + ["--page", "--overwrite"]).status == 0)
        #expect(try String(contentsOfFile: page, encoding: .utf8) == text)
    }

    @Test("are rejected elsewhere, and a cancelled one leaves nothing behind") func refusals() async throws {
        let folder = NSTemporaryDirectory() + "clusterd-publish-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = try DaemonProcess(["--export-dir", folder])
        let client = try await Client.connect(socketPath: daemon.socketPath)
        _ = try await client.createSource("a")
        for (path, status) in [("/etc/a", "PERMISSION_DENIED"), ("x/a", "NOT_FOUND")] {
            let call = try client.openServerStream(
                "SourceService/PublishTiles", ["source": "a", "path": .string(path)])
            do {
                _ = try await call.end()
                Issue.record("\(path) is refused")
            } catch { #expect("\(error)".contains(status)) }
        }
        let points = (0..<20_000).map {
            #"{"type":"Feature","properties":null,"geometry":{"type":"Point","coordinates":[\#($0 % 359 - 179),\#(Double($0) / 250 - 40)]}}"#
        }
        let features = try client.openClientStream("SourceService/ImportFeatures", ["source": "a"])
        try await features.send(
            Array(#"{"features":["#.utf8) + Array(points.joined(separator: ",").utf8) + Array("]}".utf8))
        _ = try await features.finish()
        let call = try client.openServerStream(
            "SourceService/PublishTiles", ["source": "a", "path": "a.pmtiles", "maxZoom": 14])
        for try await _ in call { break }
        call.cancel()
        // The daemon takes the next change of the source only once the pool's thread is free.
        _ = try await client.call("SourceService/DeleteSource", ["source": "a"])
        daemon.process.terminate()
        #expect(daemon.process.waitForEnd() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test(
        "leave nothing behind when the disk is full, and the daemon continues",
        .disabled(if: Sanitizer.isOfThreads, "no program starts that may only write small files"))
    func fullDisk() async throws {
        let folder = NSTemporaryDirectory() + "clusterd-publish-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // None of its files may be larger than 64 KiB, which the system reports like a full disk.
        let daemon = try DaemonProcess(["--export-dir", folder], fileBlocks: 128)
        let client = try await Client.connect(socketPath: daemon.socketPath)
        _ = try await client.createSource("a")
        let points = (0..<20_000).map {
            #"{"type":"Feature","properties":{"name":"point \#($0 &* 2_654_435_761)"},"geometry":{"type":"Point","coordinates":[\#($0 % 359 - 179),\#(Double($0) / 250 - 40)]}}"#
        }
        let features = try client.openClientStream("SourceService/ImportFeatures", ["source": "a"])
        try await features.send(
            Array(#"{"features":["#.utf8) + Array(points.joined(separator: ",").utf8) + Array("]}".utf8))
        _ = try await features.finish()
        for _ in 0..<2 {
            let call = try client.openServerStream(
                "SourceService/PublishTiles", ["source": "a", "path": "a.pmtiles", "maxZoom": 6])
            do {
                _ = try await call.end()
                Issue.record("there is no room for it")
            } catch {
                #expect("\(error)".contains("RESOURCE_EXHAUSTED") && "\(error)".contains("disk is full"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
        // A small one has room, in the same daemon.
        let call = try client.openServerStream(
            "SourceService/PublishTiles", ["source": "a", "path": "a.pmtiles", "maxZoom": 0])
        _ = try await call.end()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.pmtiles"])
    }

    private static let script = """
        import base64, gzip, json, sys
        sys.path.insert(0, "\(root)/Examples")
        from clusterd_client import Client
        from pmtiles.reader import MmapSource, Reader, all_tiles

        client = Client(sys.argv[1])
        client.call("SourceService/CreateSource", source="cities")
        features = json.load(open("\(root)/Examples/cities.geojson", encoding="utf-8"))["features"]
        client.call("SourceService/ImportFeatures", items=[{"features": features}], source="cities")
        params = {"source": "cities", "path": "cities.pmtiles", "maxZoom": 9, "include": ["expansionZoom"]}
        client.send({"id": 1000, "method": "clusterd.v1.SourceService/PublishTiles", "params": params})
        while "end" not in (message := client.receive()):
            assert message["item"]["tiles"] <= message["item"]["ofTiles"]
        path = sys.argv[2] + "/cities.pmtiles"
        assert message["end"]["path"] == path
        header = Reader(MmapSource(open(path, "rb"))).header()
        assert header["clustered"] and header["addressed_tiles_count"] == message["end"]["tiles"]
        metadata = Reader(MmapSource(open(path, "rb"))).metadata()
        assert metadata["vector_layers"][0]["fields"]["population"] == "Number"
        count = 0
        for (z, x, y), tile in all_tiles(MmapSource(open(path, "rb"))):
            answer = client.call(
                "ClusterService/GetTile", source="cities", z=z, x=x, y=y, encoding="mvt", include=["expansionZoom"])
            assert gzip.decompress(tile) == base64.b64decode(answer["tile"]), (z, x, y)
            count += 1
        assert count == message["end"]["tiles"] > 1000, count
        print("tiles agree")
        """

    private static let root = Repository.root.path

    private static func python(
        _ script: String, _ arguments: [String] = []
    ) throws -> (status: Int32, output: String, errors: String) {
        try DaemonProcess.run(
            "/usr/bin/env", ["python3", "-c", script] + arguments,
            environment: ["PYTHONPATH": root + "/.build/test-python"])
    }
}
