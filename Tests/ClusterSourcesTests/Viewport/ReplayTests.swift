// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import TestSupport
import Testing

@testable import ClusterSources

/// Changes replayed from any start give what GetClusters gives.
@Suite struct ReplayTests {
    private static let options = [
        "{}", #"{"minPoints":3,"maxZoom":6,"partitionBy":["get","category"]}"#,
        #"{"clusterProperties":{"sum":["+",["get","value"]],"kinds":["distinct",["get","category"]]},"weight":["+",1,["get","value"]]}"#,
    ]

    @Test(arguments: 0..<6)
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
                #expect(try watchers[place].replay.features == watchers[place].wanted())
            }
        }
        for place in watchers.indices {
            try watchers[place].look()
            #expect(try watchers[place].replay.features == watchers[place].wanted())
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
