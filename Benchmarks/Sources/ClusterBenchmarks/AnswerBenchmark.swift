// SPDX-License-Identifier: MIT
import Clustering
import Responses
import SourceEngine
import SystemSupport
import Glibc
import JSON
import VectorTile

/// A source of the points, with an id and four properties each.
func makeSource(longitudes: [Double], latitudes: [Double]) throws -> Source? {
    let rows = Array(longitudes.indices)
    return try makeSource(rows: rows, options: .object([:]), threads: Processors.count) { index, bytes in
        bytes.appendFeature(index, longitudes[index], latitudes[index])
        bytes.append("{\"name\":\"place\",\"category\":\"cafe\",\"value\":500,\"score\":5.25}}")
    }
}

/// A source of features, each as `append` writes it.
///
/// - Parameter threads: the most threads of a build, and of an update.
func makeSource(
    rows: [Int], options: JSONValue, threads: Int = 2, append: (Int, inout ByteWriter) -> Void
) throws -> Source? {
    guard let name = SourceName("benchmark") else { return nil }
    let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 1 << 26, buildThreads: threads))
    let source = try registry.create(name, options: SourceOptions(reading: options))
    let features = FeatureImport(into: source, mode: .replace, policy: .reject)
    let step = 10_000
    for start in stride(from: 0, to: rows.count, by: step) {
        var bytes = ByteWriter()
        bytes.append("[")
        for place in start..<min(start + step, rows.count) {
            if place > start { bytes.append(",") }
            append(rows[place], &bytes)
        }
        bytes.append("]")
        try features.add(features: bytes.bytes)
    }
    _ = try features.finish(.never)
    return source
}

/// What is measured of answers, without the rest.
func benchmarkAnswersAlone(longitudes: [Double], latitudes: [Double]) {
    do {
        guard let source = try makeSource(longitudes: longitudes, latitudes: latitudes) else { return }
        for _ in 0..<3 { try benchmarkAnswers(source, longitudes: longitudes, latitudes: latitudes) }
        try moveFeatures(of: source, longitudes: longitudes, latitudes: latitudes)
        print("1000 features moved since:")
        for _ in 0..<3 { try benchmarkAnswers(source, longitudes: longitudes, latitudes: latitudes) }
    } catch {
        print("error\t0\t\(error)")
    }
}

/// Moves 1000 features a little, so that answers come of an index with changes.
private func moveFeatures(of source: Source, longitudes: [Double], latitudes: [Double]) throws {
    var random = SequenceGenerator()
    var bytes = ByteWriter()
    bytes.append("[")
    for place in 0..<1000 {
        let point = Int.random(in: 0..<longitudes.count, using: &random)
        if place > 0 { bytes.append(",") }
        bytes.appendFeature(point, max(-180, longitudes[point] - 0.001), latitudes[point])
        bytes.append("{\"name\":\"moved\"}}")
    }
    bytes.append("]")
    _ = try source.update(upserts: bytes.bytes, removals: [], .never)
}

/// How long a whole answer takes in process: a view's features, written as the bytes that are sent.
func benchmarkAnswers(_ source: Source, longitudes: [Double], latitudes: [Double]) throws {
    let revision = source.revision
    guard let view = revision.readyView(nil, zoom: nil) else { return }
    let count = 5000
    for zoom in [3, 6, 10] {
        // The same views in every run, so that runs compare.
        var random = SequenceGenerator()
        let width = 360.0 / Double(1 << zoom) * 2
        let queries = (0..<count).map { _ in
            let point = Int.random(in: 0..<longitudes.count, using: &random)
            let height = width * 0.75 * cos(latitudes[point] * .pi / 180)
            let box = Box(
                west: longitudes[point] - width / 2, south: latitudes[point] - height / 2,
                east: longitudes[point] + width / 2, north: latitudes[point] + height / 2)
            return ClustersQuery(box: box, zoom: Double(zoom))
        }
        for (form, suffix) in [(FeatureForm.json, ""), (.protobuf(structProperties: false), " as a message")] {
            var bytes = ByteWriter(capacity: 1 << 20)
            var shown = 0
            let answer = Stopwatch.sample(count) { place in
                bytes.truncate(to: 0)
                var query = queries[place]
                query.output.form = form
                try? revision.writeClusters(query, of: view, into: &bytes, .never)
                shown += bytes.count
            }
            report(
                "answer of a view of 1024 x 768 at zoom \(zoom)\(suffix), \(shown / count) bytes",
                answer.median / 1e3, "µs")
        }
    }
    try benchmarkTile(revision, view)
}

/// A vector tile of some sixty features, as GetTile answers it.
private func benchmarkTile(_ revision: Revision, _ view: View) throws {
    guard let (tile, count) = tile(ofAbout: 60, revision, view) else { return }
    var bytes = ByteWriter(capacity: 1 << 16)
    // The daemon too writes tile after tile with one.
    var encoder = VectorTileEncoder()
    let answer = Stopwatch.sample(20000) { _ in
        bytes.truncate(to: 0)
        encoder.begin(layer: "benchmark", extent: 512)
        try? revision.eachTileFeature(tile, of: view, .never) { feature in
            switch feature.content {
            case .cluster(let cluster, let count):
                encoder.feature(x: feature.x, y: feature.y, id: UInt64(exactly: cluster.id))
                encoder.clusterTags(id: cluster.id, pointCount: cluster.pointCount, abbreviatedCount: count)
            case .other(let id, let tags):
                encoder.feature(x: feature.x, y: feature.y, id: id.flatMap(TileIdentifier.parse))
                encoder.tags(json: tags)
            }
        }
        var encoded = ByteWriter(capacity: 8192)
        encoder.finish(into: &encoded)
        encoded.withUnsafeBytes { Base64.append($0, to: &bytes) }
    }
    report("vector tile of \(count) features, \(bytes.count) bytes", answer.median / 1e3, "µs")
}

/// The tile whose count of features is nearest to one wanted.
private func tile(ofAbout wanted: Int, _ revision: Revision, _ view: View) -> (tile: TileAddress, count: Int)? {
    var chosen: (tile: TileAddress, count: Int)?
    for z in 3...8 {
        for x in 0..<(1 << z) {
            for y in 0..<(1 << z) {
                guard let tile = TileAddress(z: z, x: x, y: y) else { continue }
                let count = revision.tileFeatures(tile, of: view).count
                if abs(count - wanted) < abs((chosen?.count ?? 0) - wanted) { chosen = (tile, count) }
            }
        }
    }
    return chosen
}

extension ByteWriter {
    /// Appends a point up to its properties; they and a closing brace are to follow.
    mutating func appendFeature(_ id: Int, _ longitude: Double, _ latitude: Double) {
        append("{\"type\":\"Feature\",\"id\":")
        append(integer: id)
        append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        append(number: longitude)
        append(",")
        append(number: latitude)
        append("]},\"properties\":")
    }
}

/// Random numbers that are the same in every run.
struct SequenceGenerator: RandomNumberGenerator {
    private var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        let product = state.multipliedFullWidth(by: 0xD1B5_4A32_D192_ED03)
        return product.high ^ product.low
    }
}

/// How long the hull of 500,000 points takes, the first time and again: all points in one town.
func benchmarkHull() throws {
    var random = SystemRandomNumberGenerator()
    func normal() -> Double {
        (0..<6).reduce(-3.0) { sum, _ in sum + Double.random(in: 0...1, using: &random) }
    }
    let count = 500_000
    guard
        let source = try makeSource(
            longitudes: (0..<count).map { _ in 10 + normal() },
            latitudes: (0..<count).map { _ in 45 + normal() })
    else { return }
    let revision = source.revision
    var bytes = ByteWriter()
    guard let view = revision.readyView(nil, zoom: nil) else { return }
    var nodes: [Node] = []
    _ = view.index.nodes(west: -180, south: -90, east: 180, north: 90, at: Zoom(rawValue: 0), into: &nodes)
    guard case .cluster(let cluster)? = nodes.first else { return }
    let id = view.index.id(of: cluster)
    let first = Stopwatch.now()
    try revision.writeHull(of: id, in: view, into: &bytes, .never)
    report(
        "hull of \(view.index.pointCount(of: cluster)) points", Double(Stopwatch.now() - first) / 1e6, "ms")
    let again = Stopwatch.sample(100) { _ in
        bytes.truncate(to: 0)
        try? revision.writeHull(of: id, in: view, into: &bytes, .never)
    }
    report("the same hull again", again.median / 1e3, "µs")
}
