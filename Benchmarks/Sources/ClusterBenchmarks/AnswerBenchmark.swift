// SPDX-License-Identifier: MIT
import Clustering
import ClusterSources
import Glibc
import JSON

/// A source of the points, with an id and four properties each.
func makeSource(longitudes: [Double], latitudes: [Double]) throws -> Source? {
    guard let name = SourceName("benchmark") else { return nil }
    let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 1 << 26, buildThreads: 2))
    let source = try registry.create(name, options: SourceOptions())
    let features = FeatureImport(into: source, mode: .replace, policy: .reject)
    let step = 10_000
    for start in stride(from: 0, to: longitudes.count, by: step) {
        var bytes = ByteWriter()
        bytes.append("[")
        for index in start..<min(start + step, longitudes.count) {
            if index > start { bytes.append(",") }
            bytes.append("{\"type\":\"Feature\",\"id\":")
            bytes.append(integer: index)
            bytes.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
            bytes.append(number: longitudes[index])
            bytes.append(",")
            bytes.append(number: latitudes[index])
            bytes.append(
                "]},\"properties\":{\"name\":\"place\",\"category\":\"cafe\",\"value\":500,\"score\":5.25}}")
        }
        bytes.append("]")
        try bytes.withUnsafeBytes { try features.add(features: $0) }
    }
    _ = try features.finish(.never)
    return source
}

/// How long a whole answer takes in process: a view's features, written as the bytes that are sent.
func benchmarkAnswers(_ source: Source, longitudes: [Double], latitudes: [Double]) throws {
    let revision = source.revision
    guard let view = revision.readyView(nil, zoom: nil) else { return }
    var random = SystemRandomNumberGenerator()
    var shown = 0
    for zoom in [3, 6, 10] {
        let width = 360.0 / Double(1 << zoom) * 2
        var bytes = ByteWriter(capacity: 1 << 20)
        shown = 0
        let answer = Stopwatch.sample(5000) { _ in
            let point = Int.random(in: 0..<longitudes.count, using: &random)
            let height = width * 0.75 * cos(latitudes[point] * .pi / 180)
            let box = Box(
                west: longitudes[point] - width / 2, south: latitudes[point] - height / 2,
                east: longitudes[point] + width / 2, north: latitudes[point] + height / 2)
            bytes.truncate(to: 0)
            try? revision.writeClusters(
                ClustersQuery(box: box, zoom: Double(zoom)), of: view, into: &bytes, .never)
            shown += bytes.count
        }
        report(
            "answer of a view of 1024 x 768 at zoom \(zoom), \(shown / 5000) bytes", answer.median / 1e3, "µs"
        )
    }
}
