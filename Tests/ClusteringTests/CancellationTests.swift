// SPDX-License-Identifier: MIT
import SystemSupport
import Synchronization
import Testing

@testable import Clustering

/// Says no so many times, then yes for ever; counts how often it was asked.
private final class Patience: Sendable {
    private let asked = Atomic<Int>(0)
    private let most: Int

    init(_ most: Int) { self.most = most }

    var count: Int { asked.load(ordering: .relaxed) }

    func isSpent() -> Bool { asked.add(1, ordering: .relaxed).newValue > most }
}

@Suite("Cancelled builds")
struct CancellationTests {
    private func build(
        _ set: PointSet, _ count: Int, _ options: ClusteringOptions, _ patience: Patience
    ) throws -> ClusterIndex {
        try ClusterIndex.build(
            set.places(count), options, threads: 2, isCancelled: { patience.isSpent() })
    }

    @Test(
        "a build that is cancelled at any point ends at once, with an error",
        arguments: [PointSet.uniform, .gathered, .line, .crowd])
    func anywhere(_ set: PointSet) throws {
        // Enough for two threads.
        let count = 2 * Parallel.smallestShare
        let options = ClusteringOptions(minimumZoom: 1, maximumZoom: 3, minimumPoints: 3)
        let patient = Patience(.max)
        _ = try build(set, count, options, patient)
        for most in stride(from: 0, to: patient.count, by: max(1, patient.count / 12)) {
            let patience = Patience(most)
            do {
                _ = try build(set, count, options, patience)
                // Threads that meet other threads' work ask less often than in the first build.
                #expect(patience.count <= most)
            } catch { #expect(error as? ClusteringError == .cancelled) }
            // Each of the passes that follow asks once more before the next step ends the build.
            #expect(patience.count <= most + 12)
        }
    }

    @Test("a pass over many points checks for cancellation regularly", arguments: [PointSet.uniform, .crowd])
    func often(_ set: PointSet) throws {
        let options = ClusteringOptions(minimumZoom: 3, maximumZoom: 3)
        let (few, many) = (Patience(.max), Patience(.max))
        _ = try build(set, 1000, options, few)
        _ = try build(set, 200_000, options, many)
        #expect(many.count >= few.count + 4)
    }

    @Test("projecting many points checks for cancellation regularly, and stops") func projecting() throws {
        func project(_ count: Int, _ patience: Patience) throws {
            let longitudes = (0..<count).map { Double($0 % 360) - 180 }
            try longitudes.withUnsafeBufferPointer { longitudes in
                _ = try ProjectedPoints(
                    longitudes: longitudes, latitudes: longitudes, options: ClusteringOptions(),
                    threads: 2, isCancelled: { patience.isSpent() })
            }
        }
        let (few, many, none) = (Patience(.max), Patience(.max), Patience(0))
        try project(1000, few)
        try project(1_000_000, many)
        #expect(many.count >= few.count + 4)
        #expect(throws: ClusteringError.cancelled) { try project(1_000_000, none) }
        // Each share stops when it first asks.
        #expect(none.count < many.count)
    }

    @Test("moving clusters to their places on the curve checks for cancellation before each column, and stops")
    func renumbering() throws {
        let places = PointSet.uniform.places(3000)
        let points = PointColumns<Double>(
            x: Scratch(capacity: places.count), y: Scratch(capacity: places.count), count: places.count)
        for (index, place) in places.enumerated() {
            points.x.base[index] = (place.longitude + 180) / 360
            points.y.base[index] = (place.latitude + 90) / 180
        }
        let builder = IndexBuilder<Double>(
            points: points, weights: nil, partitions: nil, options: ClusteringOptions(),
            parallel: Parallel(.awake, threads: 1))
        try builder.run()
        let table = builder.table
        #expect(table.count > 500)
        func apply(_ patience: Patience) throws {
            let numbering = ClusterNumbering(
                table, parallel: Parallel(.awake, threads: 1, isCancelled: { patience.isSpent() }))
            // Each cluster keeps its ordinal, so that the table can be used again.
            numbering.number(count: table.count) { clusters, body in
                for cluster in clusters { _ = body(cluster, Int(table.zooms.base[cluster])) }
            }
            try numbering.apply()
        }
        let patient = Patience(.max)
        try apply(patient)
        let steps = table.ranges.count + 5
        #expect(patient.count >= steps)
        for most in 0..<patient.count {
            let patience = Patience(most)
            #expect(throws: ClusteringError.cancelled) { try apply(patience) }
            // A sort asks once more before it returns.
            #expect(patience.count <= most + 3)
        }
    }
}
