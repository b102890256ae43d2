// SPDX-License-Identifier: MIT
import Clustering
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("The extent of points, from the edges inwards") struct EdgeSearchTests {
    typealias Place = (longitude: Double, latitude: Double)

    private func expectExtent(of places: [Place], within box: Box = .world) throws {
        let (longitudes, latitudes) = (places.map(\.longitude), places.map(\.latitude))
        let index = try longitudes.withUnsafeBufferPointer { longitudes in
            try latitudes.withUnsafeBufferPointer {
                try ClusterIndex.build(
                    ProjectedPoints(longitudes: longitudes, latitudes: $0, options: ClusteringOptions()))
            }
        }
        var expected = Box.nowhere
        for place in places { expected.include(place) }
        let search = EdgeSearch(index: index) { places[Int($0.rawValue)] }
        #expect(search.extent(within: box) == expected)
        #expect(search.extent(within: expected) == expected)
    }

    @Test("points anywhere, gathered, in lines, at one place and at the world's edges") func anywhere() throws {
        var random = PythonRandom(seed: 5)
        func number(_ most: Double) -> Double { most * (Double(random.randrange(2_000_001)) / 1e6 - 1) }
        for _ in 0..<40 {
            let (longitude, latitude, spread) = (number(170), number(80), abs(number(1)) / 50)
            let count = 1 + random.randrange(300)
            try expectExtent(of: (0..<count).map { _ in (number(180), number(90)) })
            try expectExtent(of: (0..<count).map { _ in (longitude + number(spread), latitude + number(spread)) })
            try expectExtent(of: (0..<count).map { _ in (longitude, number(90)) })
            try expectExtent(of: (0..<count).map { _ in (number(1) < 0 ? -180 : 180, 86 + abs(number(4))) })
        }
        try expectExtent(of: [(longitude: 12.5, latitude: -3.25)])
        try expectExtent(of: [(longitude: 180, latitude: 90), (longitude: -180, latitude: -90)])
        try expectExtent(
            of: [(longitude: 1.000_000_1, latitude: 1), (longitude: 1.000_000_2, latitude: 1)],
            within: Box(west: 1, south: 1, east: 1.1, north: 1))
    }
}
