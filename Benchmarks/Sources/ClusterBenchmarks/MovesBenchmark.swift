// SPDX-License-Identifier: MIT
import Clustering

/// Points that move to anywhere, some at once.
private final class MovingPoints: @unchecked Sendable {
    private(set) var index: ClusterIndex
    private(set) var longitudes: [Double]
    private(set) var latitudes: [Double]
    private var random = SystemRandomNumberGenerator()

    init(longitudes: [Double], latitudes: [Double]) throws {
        (self.longitudes, self.latitudes) = (longitudes, latitudes)
        index = try buildIndex(longitudes: longitudes, latitudes: latitudes, threads: Processors.count)
    }

    /// Moves points.
    ///
    /// - Returns: those that were moved, and what following them took: wall and processor time.
    func move(_ count: Int, threads: Int) -> (points: [PointIndex], wall: Double, processor: Double)? {
        let points = Set((0..<count).map { _ in Int.random(in: 0..<longitudes.count, using: &random) }).sorted()
        var changes = PointChanges()
        changes.moved = points.map {
            PointChanges.Placement(
                point: PointIndex(rawValue: UInt32($0)), longitude: .random(in: -179...179, using: &random),
                latitude: .random(in: -80...80, using: &random))
        }
        let (start, before) = (Stopwatch.now(), Stopwatch.processorTime())
        guard let updated = index.updated(changes, threads: threads, coordinates: coordinates) else { return nil }
        let took = (Double(Stopwatch.now() - start) / 1e3, (Stopwatch.processorTime() - before) * 1e3)
        index = updated.index
        for placement in changes.moved {
            longitudes[Int(placement.point.rawValue)] = placement.longitude
            latitudes[Int(placement.point.rawValue)] = placement.latitude
        }
        return (changes.moved.map(\.point), took.0, took.1)
    }

    func coordinates(_ point: PointIndex) -> (longitude: Double, latitude: Double) {
        (longitudes[Int(point.rawValue)], latitudes[Int(point.rawValue)])
    }
}

/// What following moves of points to anywhere costs in the index alone, by the number of moves at once, while the changes since
/// the last build grow; and then, what it costs to make such changes in an index that was built again.
func benchmarkMoves(longitudes: [Double], latitudes: [Double], threads: Int) throws {
    for (size, total) in [(300, 60_000), (1000, 100_000)] {
        let moving = try MovingPoints(longitudes: longitudes, latitudes: latitudes)
        for part in 1...4 {
            var (wall, processor, count) = (0.0, 0.0, 0)
            while count < total / 4 {
                guard let moved = moving.move(size, threads: threads) else { return print("no update") }
                wall += moved.wall
                processor += moved.processor
                count += moved.points.count
            }
            report(
                "moves of \(size), \(part * total / 4) moved, \(threads) threads", wall / Double(count),
                "µs a move (\(Int(processor / Double(count))) of processors, \(moving.index.memoryBytes >> 20) MiB)")
        }
        try benchmarkRebase(moving, size: 5 * size, rounds: total / size / 10, threads: threads)
    }
}

private func benchmarkRebase(_ moving: MovingPoints, size: Int, rounds: Int, threads: Int) throws {
    var again = try buildIndex(longitudes: moving.longitudes, latitudes: moving.latitudes, threads: Processors.count)
    again.prepareForUpdates()
    var (wall, count) = (0.0, 0)
    for _ in 0..<rounds {
        let former = moving.index
        let (longitudes, latitudes) = (moving.longitudes, moving.latitudes)
        guard let moved = moving.move(size, threads: threads) else { return print("no update") }
        let start = Stopwatch.now()
        let made = moving.index.rebased(
            from: former, onto: again, changed: moved.points, threads: threads, isOnDisk: { _ in false },
            coordinates: { (longitudes[Int($0.rawValue)], latitudes[Int($0.rawValue)]) })
        guard let made else { return print("no changes over another base") }
        wall += Double(Stopwatch.now() - start) / 1e3
        again = made.index
        count += moved.points.count
    }
    report("\(size) at once made over another base, of \(count)", wall / Double(count), "µs a move")
}
