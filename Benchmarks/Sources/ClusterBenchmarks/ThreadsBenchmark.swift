// SPDX-License-Identifier: MIT
import Clustering

/// Builds of the index on 1, 2 and 4 threads in turn: how long they take, and how long the processors worked for them.
/// Other work on the machine only adds to a time, so the shortest time is the best estimate.
func benchmarkThreads(longitudes: [Double], latitudes: [Double]) {
    var least: [Int: (wall: Double, processor: Double)] = [:]
    for _ in 0..<7 {
        for threads in [1, 2, 4] {
            let (start, before) = (Stopwatch.now(), Stopwatch.processorTime())
            let index = try? buildIndex(longitudes: longitudes, latitudes: latitudes, threads: threads)
            guard index != nil else { return }
            let wall = Double(Stopwatch.now() - start) / 1e6
            let processor = Stopwatch.processorTime() - before
            let best = least[threads] ?? (.infinity, .infinity)
            least[threads] = (min(wall, best.wall), min(processor, best.processor))
        }
    }
    for (threads, times) in least.sorted(by: { $0.key < $1.key }) {
        report("build on \(threads) threads", times.wall, "ms")
        report("processors' time of a build on \(threads) threads", times.processor, "ms")
    }
}

/// The index of points, with the default options.
func buildIndex(longitudes: [Double], latitudes: [Double], threads: Int) throws -> ClusterIndex {
    try longitudes.withUnsafeBufferPointer { longitudes in
        try latitudes.withUnsafeBufferPointer { latitudes in
            let points = try ProjectedPoints(
                longitudes: longitudes, latitudes: latitudes, options: ClusteringOptions(), threads: threads)
            return try ClusterIndex.build(points, threads: threads)
        }
    }
}
