// SPDX-License-Identifier: MIT
import Clustering
import Glibc

/// Windows, tops and histograms of two properties (a time and a size) of views of 1,024 × 768 pixels and of the world.
func benchmarkWindows(longitudes: [Double], latitudes: [Double]) throws {
    let count = longitudes.count
    let index = try longitudes.withUnsafeBufferPointer { longitudes in
        try latitudes.withUnsafeBufferPointer { latitudes in
            let points = try ProjectedPoints(
                longitudes: longitudes, latitudes: latitudes, options: ClusteringOptions(), threads: Processors.count)
            return try ClusterIndex.build(points, threads: Processors.count)
        }
    }
    var random = SequenceGenerator()
    let year = 365.25 * 86_400_000
    let times = (0..<count).map { _ in (1.7e12 + Double.random(in: 0..<1, using: &random) * year).rounded() }
    let sizes = (0..<count).map { _ in exp(Double.random(in: 0..<16, using: &random)).rounded() }
    var values = PointValues(of: index)
    for (name, numbers) in [("time", times), ("size", sizes)] {
        let start = Stopwatch.now()
        try values.add(name, numbers, of: index, threads: Processors.count)
        report("arranging the values of \(name), \(count) points", Double(Stopwatch.now() - start) / 1e6, "ms")
    }
    report("memory of two indexed properties, \(count) points", Double(values.memoryBytes) / Double(count) / 2, "bytes/point")
    guard let time = IndexedPoints(index, values, property: "time"),
        let size = IndexedPoints(index, values, property: "size")
    else { return }
    func window() -> PointWindow {
        let from = 1.7e12 + Double.random(in: 0..<0.9, using: &random) * year
        return PointWindow(time, from: from, to: from + year / 10)
    }
    var nodes: [Node] = []
    var sum = 0
    for zoom in [3, 6, 9, 12] {
        let boxes = (0..<500).map { _ in box(around: Int.random(in: 0..<count, using: &random), zoom) }
        func box(around point: Int, _ zoom: Int) -> CoordinateBox {
            let pixel = 360 / (512 * Double(1 << zoom))
            let squash = cos(latitudes[point] * .pi / 180)
            return CoordinateBox(
                west: longitudes[point] - 512 * pixel, south: latitudes[point] - 384 * pixel * squash,
                east: longitudes[point] + 512 * pixel, north: latitudes[point] + 384 * pixel * squash)
        }
        func find(_ box: CoordinateBox) {
            _ = index.nodes(
                west: box.west, south: box.south, east: box.east, north: box.north, at: Zoom(rawValue: zoom),
                into: &nodes)
        }
        let plain = Stopwatch.sample(boxes.count) { find(boxes[$0]) }
        let windows = boxes.map { _ in window() }
        var shown = 0
        let counted = Stopwatch.sample(boxes.count) { number in
            find(boxes[number])
            shown += nodes.count
            for node in nodes { sum &+= windows[number].count(of: node) }
        }
        let name = "zoom \(zoom), \(shown / boxes.count) nodes, \(count) points"
        report("view, \(name)", plain.median / 1e6, "ms")
        report("view in a window, \(name)", counted.median / 1e6, "ms")
        report("view in a window, 99th percentile, \(name)", counted.p99 / 1e6, "ms")
        let tops = Stopwatch.sample(200) { sum &+= size.top(in: boxes[$0], .descending, limit: 20).count }
        report("20 top features of a view, \(name)", tops.median / 1e6, "ms")
        let windowTops = Stopwatch.sample(50) {
            sum &+= size.top(in: boxes[$0], .descending, limit: 20, in: windows[$0]).count
        }
        report("20 top features of a view in a window, \(name)", windowTops.median / 1e6, "ms")
        let histograms = Stopwatch.sample(200) { sum &+= size.histogram(in: boxes[$0], bins: 64).below }
        report("histogram of 64 bins of a view, \(name)", histograms.median / 1e6, "ms")
    }
    let world = CoordinateBox(west: -180, south: -90, east: 180, north: 90)
    let tops = Stopwatch.sample(50) { _ in sum &+= size.top(in: world, .descending, limit: 20).count }
    report("20 top features of the world, \(count) points", tops.median / 1e6, "ms")
    let histograms = Stopwatch.sample(50) { _ in sum &+= time.histogram(in: world, bins: 64).below }
    report("histogram of 64 bins of the world, \(count) points", histograms.median / 1e6, "ms")
    let some = window()
    let windowed = Stopwatch.sample(5) { _ in sum &+= size.histogram(in: world, bins: 64, window: some).below }
    report("histogram of 64 bins of the world in a window, \(count) points", windowed.median / 1e6, "ms")
    guard sum != .max else { return }
}
