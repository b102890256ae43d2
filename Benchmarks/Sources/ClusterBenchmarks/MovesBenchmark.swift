// SPDX-License-Identifier: MIT
import Clustering

/// What following moves of points to anywhere costs in the index alone, by the number of moves at once, while the changes since
/// the last build grow.
func benchmarkMoves(longitudes: [Double], latitudes: [Double], threads: Int) throws {
    var random = SystemRandomNumberGenerator()
    for (size, total) in [(300, 60_000), (1000, 100_000)] {
        var index = try buildIndex(longitudes: longitudes, latitudes: latitudes, threads: Processors.count)
        nonisolated(unsafe) let xs = UnsafeMutablePointer<Double>.allocate(capacity: longitudes.count)
        nonisolated(unsafe) let ys = UnsafeMutablePointer<Double>.allocate(capacity: longitudes.count)
        for point in longitudes.indices { (xs[point], ys[point]) = (longitudes[point], latitudes[point]) }
        var moved = 0
        var next = total / 4
        var (start, before, count) = (Stopwatch.now(), Stopwatch.processorTime(), 0)
        while moved < total {
            var changes = PointChanges()
            let points = Set((0..<size).map { _ in Int.random(in: 0..<longitudes.count, using: &random) })
            var places: [(Int, Double, Double)] = []
            for point in points.sorted() {
                let (x, y) = (
                    Double.random(in: -179...179, using: &random), Double.random(in: -80...80, using: &random)
                )
                changes.moved.append(
                    PointChanges.Placement(point: PointIndex(rawValue: UInt32(point)), longitude: x, latitude: y))
                places.append((point, x, y))
            }
            guard
                let updated = index.updated(
                    changes, threads: threads, coordinates: { (xs[Int($0.rawValue)], ys[Int($0.rawValue)]) })
            else { return print("no update") }
            index = updated.index
            moved += points.count
            count += points.count
            if moved >= next {
                let wall = Double(Stopwatch.now() - start) / 1e3 / Double(count)
                let processor = (Stopwatch.processorTime() - before) * 1e3 / Double(count)
                report(
                    "moves of \(size), \(moved) moved, \(threads) threads", wall,
                    "µs a move (\(Int(processor)) of processors, \(index.memoryBytes >> 20) MiB)")
                next += total / 4
                (start, before, count) = (Stopwatch.now(), Stopwatch.processorTime(), 0)
            }
            for (point, x, y) in places { (xs[point], ys[point]) = (x, y) }
        }
    }
}
