// SPDX-License-Identifier: MIT
import Clustering
import Responses
import SourceEngine
import SystemSupport
import JSON

/// How long it takes until updates of single features are visible, in process and without a disk: features
/// move by some hundred metres, at random positions and in the densest town.
func benchmarkUpdates(_ source: Source, longitudes: [Double], latitudes: [Double]) throws {
    var random = SystemRandomNumberGenerator()
    func text(of points: [Int]) -> ByteWriter {
        var bytes = ByteWriter()
        bytes.append("[")
        for (place, point) in points.enumerated() {
            if place > 0 { bytes.append(",") }
            let longitude = longitudes[point] + Double.random(in: -0.002...0.002, using: &random)
            let latitude = latitudes[point] + Double.random(in: -0.002...0.002, using: &random)
            bytes.appendFeature(point, max(-180, min(180, longitude)), latitude)
            bytes.append("{\"name\":\"moved\",\"category\":\"cafe\",\"value\":7,\"score\":1.5}}")
        }
        bytes.append("]")
        return bytes
    }
    func update(_ points: [Int]) throws {
        let bytes = text(of: points)
        _ = try source.update(upserts: bytes.bytes, removals: [], .never)
    }
    let first = Stopwatch.now()
    try update([0])
    report("first update of 1 feature", Double(Stopwatch.now() - first) / 1e6, "ms")

    let cells = Dictionary(grouping: longitudes.indices) { point in
        Int(longitudes[point] * 20) * 100_000 + Int(latitudes[point] * 20)
    }
    let town = cells.values.max { $0.count < $1.count } ?? []
    report("points in the densest town's middle, 0.05 degrees square", Double(town.count), "points")
    let places = [("at random positions", Array(longitudes.indices)), ("in the densest town", town)]
    try sample(places, "")
    _ = try source.update(options: SourceOptions(reading: JSONReader.parse(fourAggregates)), .never)
    try sample(places, ", four aggregates")

    func sample(_ kinds: [(name: String, places: [Int])], _ variant: String) throws {
        for (name, places) in kinds {
            for (count, samples) in [(1, 1000), (10, 500), (100, 200), (1000, 30)] where count <= places.count {
                var failure: (any Error)?
                let time = Stopwatch.sample(samples) { _ in
                    let points = Set((0..<count).map { _ in places.randomElement(using: &random) ?? 0 })
                    do { try update(Array(points)) } catch { failure = error }
                }
                if let failure { throw failure }
                report("update of \(count) features \(name)\(variant)", time.median / 1e6, "ms")
                report("update of \(count) features \(name)\(variant), 99th percentile", time.p99 / 1e6, "ms")
            }
        }
    }
}
