// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

/// Changes replayed from any start give what GetClusters gives.
@Suite("Replay") struct ReplayTests {
    private static let options = [
        "{}", #"{"minPoints":3,"maxZoom":6,"partitionBy":["get","category"]}"#,
        #"{"clusterProperties":{"sum":["+",["get","value"]],"kinds":["distinct",["get","category"]]},"weight":["+",1,["get","value"]]}"#,
        #"{"clusterProperties":{"sum":["+",["get","value"]],"best":["max",["get","value"]]}}"#,
    ]

    @Test("replayed changes give the answer of GetClusters", arguments: 0..<6)
    func replayedChangesAreTheAnswer(_ seed: Int) throws {
        var random = PythonRandom(seed: UInt32(seed))
        let source = try TestSource(options: Self.options[seed % 3])
        let kind = seed % 2 == 0 ? "d" : "c"
        let points = GoldenDataset.points(kind: kind, count: 400, seed: UInt32(seed))
        try source.load(list(points))
        var watchers = Self.watchers(source)
        for step in 0..<60 {
            if step % 3 == 1 {
                let next = points[Self.whole(&random, 400)]
                try Self.change(source, next, Self.whole(&random, 5), step)
            }
            for place in watchers.indices where random.random() < 0.6 {
                watchers[place].query.box = Self.box(&random)
                watchers[place].query.zoom = random.uniform(-1, 18)
                try watchers[place].look()
                #expect(try watchers[place].replay.features == watchers[place].expected())
            }
        }
        for place in watchers.indices {
            try watchers[place].look()
            #expect(try watchers[place].replay.features == watchers[place].expected())
        }
    }

    /// What has not changed since is not looked at again, however it came about.
    @Test("a watch that stays open gets every update", arguments: 0..<4)
    func watchersThatStayAreToldOfEachUpdate(_ seed: Int) throws {
        var random = PythonRandom(seed: UInt32(seed + 50))
        let source = try TestSource(options: Self.options[seed % 2 == 0 ? 0 : 3])
        let points = GoldenDataset.points(kind: seed < 2 ? "c" : "d", count: 300, seed: UInt32(seed))
        try source.load(list(points))
        var watchers = [0, 2, 5, 9, 17].map { zoom in
            Watcher(
                source,
                ClustersQuery(
                    box: zoom == 5 ? Box(west: -60, south: -50, east: 60, north: 60) : .world, zoom: Double(zoom)))
        }
        for step in 0..<80 {
            let way = [0, 1, 3, 3, 4, 4][Self.whole(&random, 6)]
            try Self.change(source, points[Self.whole(&random, 300)], way, step)
            if step == 50 { try source.load(list([points[0]]), mode: .append) }
            for place in watchers.indices where random.random() < 0.7 {
                try watchers[place].look()
                #expect(try watchers[place].replay.features == watchers[place].expected())
            }
        }
    }

    private static func watchers(_ source: TestSource) -> [Watcher] {
        let query = ClustersQuery(box: .world, zoom: 2)
        var limited = query
        limited.limit = 20
        var told = query
        told.output = FeatureOutput(
            properties: PropertySelection(["name", "sum"]), precision: 1, include: [.hull, .coincident])
        return [
            Watcher(source, query), Watcher(source, limited), Watcher(source, told),
            Watcher(source, query, filter: #"[">",["get","value"],["zoom"]]"#),
        ]
    }

    private static func whole(_ random: inout PythonRandom, _ bound: Int) -> Int {
        min(bound - 1, Int(random.random() * Double(bound)))
    }

    private static func box(_ random: inout PythonRandom) -> Box {
        let (x, y) = (random.uniform(-180, 180), random.uniform(-85, 85))
        let side = random.uniform(0, 200)
        return Box(west: x, south: max(-90, y - side / 2), east: x + side, north: min(90, y + side / 2))
    }

    private static func change(_ source: TestSource, _ point: GoldenPoint, _ way: Int, _ step: Int) throws {
        var point = point
        switch way {
        case 0: _ = try source.update(remove: [#require(FeatureIdentifier(.number(Double(point.id))))])
        case 1:
            point.id += 1000 + step
            _ = try source.update(upsert: list([point]))
        case 2: try source.load(list([point, point]), mode: .append)
        case 3:
            point.value += 1
            _ = try source.update(upsert: list([point]))
        default:
            point.longitude = max(-180, min(180, point.longitude + 0.5))
            _ = try source.update(upsert: list([point]))
        }
    }
}
