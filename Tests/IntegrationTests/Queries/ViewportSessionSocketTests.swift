// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import TestSupport
import Testing

@Suite("A session on the real daemon")
struct ViewportSessionSocketTests {
    @Test("its markers become what GetClusters gives, however the map moves", .timeLimit(.minutes(10)))
    func moves() async throws {
        let daemon = try DaemonProcess()
        let raw = try daemon.client()
        _ = try raw.call("SourceService/CreateSource", ["source": "s"])
        let points = GoldenDataset.points(kind: "d", count: 600, seed: 4)
        _ = try raw.importFeatures("s", points.map(\.feature))
        let client = try await Client.connect(socketPath: daemon.socketPath)
        let pace = FlushPace(frame: .zero, batches: 7...7)
        let session = try client.viewport(of: "s", in: .world, zoom: 2, maxRateHz: 1000, pace: pace)
        var random = PythonRandom(seed: 4)
        var updates = session.makeAsyncIterator()
        var shown: [String: Feature] = [:]
        for step in 0..<25 {
            let west = random.uniform(-180, 180)
            let south = random.uniform(-80, 60)
            let box = BoundingBox(west: west, south: south, east: west + 90, north: min(90, south + 70))
            let zoom = random.uniform(0, 17)
            if step % 3 == 0 {
                let point = points[step].feature.replacing("place", with: "step \(step)")
                _ = try raw.call(
                    "SourceService/UpdateFeatures", ["source": "s", "upsert": .array([JSONReader.parse(point)])])
            }
            try await session.move(to: box, zoom: zoom)
            let wanted = try await client.clusters(of: "s", in: box, zoom: zoom).features
            repeat {
                let update = try #require(try await updates.next())
                for key in update.removed { #expect(shown.removeValue(forKey: key) != nil) }
                for marker in update.added {
                    #expect(shown.updateValue(marker.feature, forKey: marker.key) == nil)
                }
                for marker in update.replaced {
                    #expect(shown.updateValue(marker.feature, forKey: marker.key) != nil)
                }
                #expect(session.markers.count == shown.count)
            } while Self.texts(Array(shown.values)) != Self.texts(wanted)
        }
        session.end()
        while try await updates.next() != nil {}
    }

    private static func texts(_ features: [Feature]) -> [String] {
        features.map { JSONValue.object($0.json).text }.sorted()
    }
}
