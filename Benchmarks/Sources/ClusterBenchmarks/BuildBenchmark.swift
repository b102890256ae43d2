// SPDX-License-Identifier: MIT
import Clustering
import Responses
import SourceEngine
import SystemSupport
import JSON

/// Options of a source with four aggregated properties.
let fourAggregates = """
    {"clusterProperties":{"sum":["+",["get","value"]],"best":["max",["get","score"]],\
    "worst":["min",["get","score"]],"cafes":["+",["case",["==",["get","category"],"cafe"],1,0]]}}
    """

/// The same of properties that no feature has, so that every step of a fold is an error.
let missingAggregates = """
    {"clusterProperties":{"sum":["+",["get","a"]],"best":["max",["get","b"]],"worst":["min",["get","c"]],\
    "cafes":["+",["get","d"]]}}
    """

/// Builds of whole sources in turn: plain ones, with four aggregated properties, and the first answers of filters
/// that most features pass, beside plain builds of as many.
func benchmarkBuilds(longitudes: [Double], latitudes: [Double]) throws {
    var random = SequenceGenerator()
    let features = (0..<longitudes.count).map { _ in Properties(&random) }
    /// Takes these features' build in milliseconds.
    func build(_ options: String, _ rows: [Int]) throws -> (Source, Double)? {
        let source = try makeSource(rows: rows, options: JSONReader.parse(options)) { row, bytes in
            appendFeature(row, longitudes[row], latitudes[row], features[row], to: &bytes)
        }
        return source.map { ($0, $0.revision.buildMilliseconds) }
    }
    let all = Array(longitudes.indices)
    let rounds = 7
    var plain: [Double] = []
    var aggregated: [Double] = []
    var filtered: [Double] = []
    var again: [Double] = []
    var few: [Double] = []
    for round in 0..<rounds {
        guard let (source, time) = try build("{}", all) else { return }
        plain.append(time)
        // Nine tenths pass; a number that no other round has makes it another filter.
        let limit = 100 - Double(round) / 1000
        filtered.append(try firstAnswer(source, #"[">=",["get","value"],\#(limit)]"#))
        again.append(try firstAnswer(source, #"[">=",["get","value"],\#(limit - 0.5)]"#))
        guard let (_, part) = try build("{}", all.filter { features[$0].value >= 100 }) else { return }
        few.append(part)
        guard let (_, more) = try build(fourAggregates, all) else { return }
        aggregated.append(more)
    }
    // Other work on the machine only adds to a time, so the shortest time is the best estimate.
    func least(_ times: [Double]) -> Double { times.min() ?? .nan }
    report("source built", least(plain), "ms")
    report("source with four aggregates built", least(aggregated), "ms")
    report("that to a plain build", least(aggregated) / least(plain), "times")
    report("source of nine tenths of the features built", least(few), "ms")
    report("first answer of a filter that these pass", least(filtered), "ms")
    report("that to a build of these", least(filtered) / least(few), "times")
    report("first answer of another filter over the same property", least(again), "ms")
}

/// Repeated clusterings of one source, plain ones and with four aggregated properties in turn: how long they take, and
/// how long the processor worked for them, which what else the machine does disturbs less.
func benchmarkAggregates(longitudes: [Double], latitudes: [Double], aggregates: String) throws {
    var random = SequenceGenerator()
    let features = (0..<longitudes.count).map { _ in Properties(&random) }
    let plain = try SourceOptions(reading: JSONReader.parse("{}"))
    let aggregated = try SourceOptions(reading: JSONReader.parse(aggregates))
    let source = try makeSource(rows: Array(longitudes.indices), options: .object([:])) { row, bytes in
        appendFeature(row, longitudes[row], latitudes[row], features[row], to: &bytes)
    }
    guard let source else { return }
    var times: [(wall: [Double], processor: [Double])] = [([], []), ([], [])]
    for _ in 0..<9 {
        for (place, options) in [plain, aggregated].enumerated() {
            let before = Stopwatch.processorTime()
            _ = try source.update(options: options, Cancellation.never)
            times[place].processor.append(Stopwatch.processorTime() - before)
            times[place].wall.append(source.revision.buildMilliseconds)
        }
    }
    for (place, name) in ["plain", "aggregated"].enumerated() {
        for (kind, values) in [("build", times[place].wall), ("processor", times[place].processor)] {
            let sorted = values.dropFirst().sorted()
            report("\(name) \(kind), least", sorted.first ?? .nan, "ms")
            report("\(name) \(kind), median", sorted[sorted.count / 2], "ms")
        }
    }
}

/// How long a filter's view takes that is not at hand yet, in milliseconds.
private func firstAnswer(_ source: Source, _ filter: String) throws -> Double {
    let revision = source.revision
    let filter = QueryFilter(try JSONReader.parse(filter))
    let start = Stopwatch.now()
    let view = try revision.view(filter, zoom: 4, .never)
    var bytes = ByteWriter()
    try revision.writeClusters(
        ClustersQuery(box: Box(west: -20, south: 30, east: 50, north: 65), zoom: 4), of: view, into: &bytes,
        .never)
    return Double(Stopwatch.now() - start) / 1e6
}

/// What a feature carries.
private struct Properties {
    let category: Int
    let value: Int
    let score: Int

    init(_ random: inout SequenceGenerator) {
        category = Int.random(in: 0..<6, using: &random)
        value = Int.random(in: 0..<1000, using: &random)
        score = Int.random(in: 0..<10000, using: &random)
    }
}

private let categories = ["school", "cafe", "hospital", "fuel", "hotel", "museum"]

private func appendFeature(
    _ row: Int, _ longitude: Double, _ latitude: Double, _ properties: Properties, to bytes: inout ByteWriter
) {
    bytes.appendFeature(row, longitude, latitude)
    bytes.append("{\"name\":\"place ")
    bytes.append(integer: row)
    bytes.append("\",\"category\":")
    bytes.append(json: categories[properties.category])
    bytes.append(",\"value\":")
    bytes.append(integer: properties.value)
    bytes.append(",\"score\":")
    bytes.append(number: Double(properties.score) / 1000)
    bytes.append("}}")
}
