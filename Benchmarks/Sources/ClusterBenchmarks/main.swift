// SPDX-License-Identifier: MIT
// In-process figures of the index, on a file of points: `ClusterBenchmarks FILE
// [threads|hull|updates|answers|sources|aggregates|missing|lookups|windows|moves]`, where FILE holds longitude and latitude of each
// as little-endian doubles; with a third word only what that is about. Benchmarks/run makes the file and the table.
import Clustering
import Glibc

func benchmark() {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[2] == "hull" {
        do { try benchmarkHull() } catch { print("error\t0\t\(error)") }
        return
    }
    let isMissingAlone = arguments.last == "missing"
    let isAggregatesAlone = arguments.last == "aggregates" || isMissingAlone
    let isThreadsAlone = arguments.last == "threads"
    let isUpdatesAlone = arguments.last == "updates"
    let isAnswersAlone = arguments.last == "answers"
    let isSourcesAlone = arguments.last == "sources"
    let isLookupsAlone = arguments.last == "lookups"
    let isWindowsAlone = arguments.last == "windows"
    let isMovesAlone = arguments.last == "moves"
    guard
        arguments.count == (isMovesAlone || isWindowsAlone || isThreadsAlone || isUpdatesAlone || isAnswersAlone || isSourcesAlone || isLookupsAlone || isAggregatesAlone ? 3 : 2),
        let file = fopen(arguments[1], "rb")
    else {
        perror("ClusterBenchmarks: a file of points is needed")
        exit(2)
    }
    fseek(file, 0, SEEK_END)
    let count = ftell(file) / 16
    fseek(file, 0, SEEK_SET)
    var places = [Double](repeating: 0, count: 2 * count)
    fread(&places, 8, 2 * count, file)
    fclose(file)
    let longitudes = (0..<count).map { places[2 * $0] }
    let latitudes = (0..<count).map { places[2 * $0 + 1] }
    places = []
    if isThreadsAlone { return benchmarkThreads(longitudes: longitudes, latitudes: latitudes) }
    if isMovesAlone {
        do {
            for threads in [1, 2] { try benchmarkMoves(longitudes: longitudes, latitudes: latitudes, threads: threads) }
        } catch { print("error\t0\t\(error)") }
        return
    }
    if isWindowsAlone {
        do { try benchmarkWindows(longitudes: longitudes, latitudes: latitudes) } catch { print("error\t0\t\(error)") }
        return
    }
    if isLookupsAlone {
        do { try benchmarkLookups(longitudes: longitudes, latitudes: latitudes) } catch { print("error\t0\t\(error)") }
        return
    }
    if isAnswersAlone { return benchmarkAnswersAlone(longitudes: longitudes, latitudes: latitudes) }
    if isSourcesAlone || isAggregatesAlone {
        do {
            if isAggregatesAlone {
                return try benchmarkAggregates(
                    longitudes: longitudes, latitudes: latitudes,
                    aggregates: isMissingAlone ? missingAggregates : fourAggregates)
            }
            try benchmarkBuilds(longitudes: longitudes, latitudes: latitudes)
        } catch {
            print("error\t0\t\(error)")
        }
        return
    }
    if isUpdatesAlone {
        do {
            guard let source = try makeSource(longitudes: longitudes, latitudes: latitudes) else { return }
            try benchmarkUpdates(source, longitudes: longitudes, latitudes: latitudes)
        } catch {
            print("error\t0\t\(error)")
        }
        return
    }

    func build() throws -> ClusterIndex {
        try buildIndex(longitudes: longitudes, latitudes: latitudes, threads: Processors.count)
    }

    guard var index = try? build() else { exit(1) }
    let builds = Stopwatch.sample(count > 2_000_000 ? 1 : 5) { _ in
        if let built = try? build() { index = built }
    }
    report("build", builds.median / 1e6, "ms")
    report("index", Double(index.memoryBytes) / Double(count), "bytes a point")
    if count > 2_000_000 { exit(0) }

    var random = SystemRandomNumberGenerator()
    var nodes: [Node] = []
    for zoom in [3, 6, 10] {
        let width = 360.0 / Double(1 << zoom) * 2
        let view = Stopwatch.sample(5000) { _ in
            let point = Int.random(in: 0..<count, using: &random)
            let height = width * 0.75 * cos(latitudes[point] * .pi / 180)
            _ = index.nodes(
                west: longitudes[point] - width / 2, south: latitudes[point] - height / 2,
                east: longitudes[point] + width / 2, north: latitudes[point] + height / 2,
                at: Zoom(rawValue: zoom),
                into: &nodes)
        }
        report("view of 1024 x 768 at zoom \(zoom), nodes only", view.median / 1e3, "µs")
    }

    func cluster() -> ClusterOrdinal {
        ClusterOrdinal(rawValue: UInt32.random(in: 0..<UInt32(index.clusterCount), using: &random))
    }
    var sum = 0
    report(
        "children",
        Stopwatch.sample(5000) { _ in
            guard let found = index.cluster(id: index.id(of: cluster())) else { return }
            for child in index.children(of: found) {
                if case .cluster(let inner) = child { sum += index.pointCount(of: inner) }
            }
        }.median / 1e3, "µs")
    report(
        "expansion zoom",
        Stopwatch.sample(5000) { _ in
            guard let found = index.cluster(id: index.id(of: cluster())) else { return }
            sum += index.expansionZoom(of: found).rawValue
        }.median / 1e3, "µs")

    _ = index.nodes(west: -180, south: -90, east: 180, north: 90, at: Zoom(rawValue: 0), into: &nodes)
    let clusters = nodes.compactMap { node in if case .cluster(let cluster) = node { cluster } else { nil } }
    if let largest = clusters.max(by: { index.pointCount(of: $0) < index.pointCount(of: $1) }) {
        let leaves = index.leaves(of: largest)
        for offset in [0, leaves.count / 2] {
            report(
                "100 leaves at offset \(offset)",
                Stopwatch.sample(2000) { _ in
                    for place in offset..<min(leaves.count, offset + 100) {
                        sum &+= Int(leaves[place].rawValue)
                    }
                }.median / 1e3, "µs")
        }
    }
    do {
        guard let source = try makeSource(longitudes: longitudes, latitudes: latitudes) else { return }
        try benchmarkAnswers(source, longitudes: longitudes, latitudes: latitudes)
        if count == 1_000_000 {
            try benchmarkFilter()
            try benchmarkHull()
            try benchmarkBuilds(longitudes: longitudes, latitudes: latitudes)
        }
        try benchmarkUpdates(source, longitudes: longitudes, latitudes: latitudes)
    } catch {
        print("error\t0\t\(error)")
    }
    if sum == 42 { print("") }
}

benchmark()
