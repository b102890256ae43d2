// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@Suite("Progress of archives")
struct PublishProgressTests {
    @Test("are sent at least once, and the last one says that all tiles are written")
    func progress() throws {
        let folder = NSTemporaryDirectory() + "clusterd-progress-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let daemon = try DaemonProcess(["--export-dir", folder])
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "a"])
        _ = try client.importFeatures("a", GoldenDataset.points(kind: "u", count: 50, seed: 2).map(\.feature))
        _ = try client.open("SourceService/PublishTiles", ["source": "a", "path": "a.pmtiles", "maxZoom": 3])
        var reports: [JSONValue] = []
        var message = try client.receive()
        while let report = message["item"] {
            reports.append(report)
            message = try client.receive()
        }
        let tiles = try #require(message["end"]?["tiles"]?.number)
        #expect(tiles > 0)
        #expect(reports.last?["tiles"]?.number == tiles)
        #expect(reports.last?["ofTiles"]?.number == tiles)
    }
}
