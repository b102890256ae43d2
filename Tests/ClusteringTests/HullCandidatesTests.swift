// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Candidates of hulls") struct HullCandidatesTests {
    /// Places whose largest cluster has enough points that some are left out.
    private static let count = 10_000

    private func index(of places: [Position], precision: ClusteringOptions.Precision = .float) throws -> ClusterIndex {
        var options = ClusteringOptions()
        options.precision = precision
        // So wide that all is one cluster at the shallowest zoom.
        options.radii[0] = 5000
        return try .build(places, options)
    }

    private func largest(_ index: ClusterIndex) -> ClusterOrdinal? {
        let clusters = index.all(at: 0).compactMap { node -> ClusterOrdinal? in
            if case .cluster(let cluster) = node { cluster } else { nil }
        }
        return clusters.max { index.pointCount(of: $0) < index.pointCount(of: $1) }
    }

    /// Compares the candidates' hull with that of all points; how many candidates there were.
    @discardableResult private func compare(
        _ index: ClusterIndex, _ position: @escaping (PointIndex) -> Position
    ) throws -> Int {
        let cluster = try #require(largest(index))
        let leaves = Array(index.leaves(of: cluster))
        let candidates = try #require(index.hullCandidates(of: cluster))
        let places = Dictionary(uniqueKeysWithValues: leaves.enumerated().map { ($1, $0) })
        let order = candidates.compactMap { places[$0] }
        #expect(order.count == candidates.count)
        #expect(zip(order, order.dropFirst()).allSatisfy(<))
        let whole = ConvexHull.hull(of: leaves.map(position))
        let partial = ConvexHull.hull(of: candidates.map(position))
        #expect(whole == partial)
        // Minus zero equals zero and is written otherwise.
        #expect("\(whole as Any)" == "\(partial as Any)")
        return candidates.count
    }

    @Test(
        "the hull of the candidates is that of all points", arguments: PointSet.allCases,
        [ClusteringOptions.Precision.float, .fixed, .double])
    func sets(_ set: PointSet, _ precision: ClusteringOptions.Precision) throws {
        let places = set.places(Self.count)
        try compare(index(of: places, precision: precision)) { places[Int($0.rawValue)] }
    }

    @Test("most inner points are left out") func few() throws {
        for set in [PointSet.uniform, .crowd, .grid] {
            let places = set.places(Self.count)
            let candidates = try compare(index(of: places)) { places[Int($0.rawValue)] }
            #expect(candidates < places.count / 4)
        }
    }

    @Test("points past the projection's northern and southern end are always candidates", arguments: 1...5)
    func poles(_ seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let places = (0..<Self.count).map { _ in
            Position(
                longitude: .random(in: -180...180, using: &random),
                latitude: .random(in: 84...90, using: &random) * (seed % 2 == 0 && Bool.random(using: &random) ? -1 : 1)
            )
        }
        try compare(index(of: places)) { places[Int($0.rawValue)] }
    }

    @Test("shapes with bent sides, needles and signed zeros keep their corners", arguments: 1...8)
    func shapes(_ seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let reach = [80.0, 5, 0.01, 0.0004, 30, 0.1, 1e-6, 60][Int(seed - 1)]
        let places = (0..<Self.count).map { place -> Position in
            let angle = Double.random(in: 0...2 * .pi, using: &random)
            let distance = Double.random(in: 0...1, using: &random).squareRoot() * reach
            let flat = place % 3 == 0 ? 1e-3 : 1
            let (x, y) = (sine(angle + .pi / 2) * distance, sine(angle) * distance * flat)
            return Position(
                longitude: place % 7 == 0 ? (place % 2 == 0 ? 0.0 : -0.0) : x,
                latitude: place % 11 == 0 ? (place % 2 == 0 ? -0.0 : 0.0) : y)
        }
        try compare(index(of: places)) { places[Int($0.rawValue)] }
    }

    /// A sine near enough for shapes (Bhaskara I's).
    private func sine(_ angle: Double) -> Double {
        let turned = angle.truncatingRemainder(dividingBy: 2 * .pi)
        let half = turned > .pi ? turned - .pi : turned
        let value = 16 * half * (.pi - half) / (5 * .pi * .pi - 4 * half * (.pi - half))
        return turned > .pi ? -value : value
    }

    @Test("points that updates moved, added or removed count with their current positions") func updates() throws {
        var places = PointSet.crowd.places(Self.count)
        var index = try index(of: places)
        var random = SeededGenerator(state: 5)
        for round in 0..<8 {
            var changes = PointChanges()
            let moved = Int.random(in: 0..<Self.count / 2, using: &random)
            // From the middle to the outside, and back again.
            let out = round % 2 == 0 ? 0.05 : 0.0001
            places[moved] = Position(
                longitude: 10 + .random(in: -out...out, using: &random),
                latitude: 20 + .random(in: -out...out, using: &random))
            let added = Position(
                longitude: 10 + .random(in: -0.03...0.03, using: &random),
                latitude: 20 + .random(in: -0.03...0.03, using: &random))
            changes.moved = [placement(PointIndex(rawValue: UInt32(moved)), places[moved])]
            changes.added = [placement(PointIndex(rawValue: UInt32(places.count)), added)]
            places.append(added)
            // The northernmost of those that no round moves or took out.
            let north = places.indices[(Self.count / 2)..<Self.count].filter {
                index.contains(PointIndex(rawValue: UInt32($0)))
            }.max { places[$0].latitude < places[$1].latitude }
            changes.removed = [PointIndex(rawValue: UInt32(try #require(north)))]
            let known = places
            index = try #require(
                index.updated(changes) { (known[Int($0.rawValue)].longitude, known[Int($0.rawValue)].latitude) }
            ).index
            try compare(index) { known[Int($0.rawValue)] }
        }
    }

    private func placement(_ point: PointIndex, _ place: Position) -> PointChanges.Placement {
        PointChanges.Placement(point: point, longitude: place.longitude, latitude: place.latitude)
    }

    @Test("the search for candidates stops at every check for cancellation") func cancellation() throws {
        let places = PointSet.uniform.places(120_000)
        let index = try index(of: places)
        let cluster = try #require(largest(index))
        var looks = 0
        let found = index.hullCandidates(
            of: cluster,
            isCancelled: {
                looks += 1
                return false
            })
        #expect(found != nil)
        #expect(looks > 4)
        for last in 1...looks {
            var asked = 0
            let cancelled = index.hullCandidates(
                of: cluster,
                isCancelled: {
                    asked += 1
                    return asked >= last
                })
            #expect(cancelled == nil)
            #expect(asked == last)
        }
    }
}
