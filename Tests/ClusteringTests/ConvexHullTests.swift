// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@testable import Clustering

@Suite("Convex hulls") struct ConvexHullTests {
    private func position(_ x: Double, _ y: Double) -> Position { Position(longitude: x, latitude: y) }

    @Test("the hull of one position is a point, that of positions on a line its two ends") func degenerate() {
        let place = position(1.5, 2.5)
        #expect(ConvexHull.hull(of: []) == nil)
        #expect(ConvexHull.hull(of: [place, place, place]) == .point(place))
        #expect(
            ConvexHull.hull(of: [position(1, 1), position(3, 3), position(2, 2), position(1, 1)])
                == .line(position(1, 1), position(3, 3)))
        #expect(
            ConvexHull.hull(of: [position(0, 5), position(0, -5), position(0, 0)])
                == .line(position(0, -5), position(0, 5)))
    }

    @Test("a square with points on its edges has four corners, counter-clockwise and closed") func square() {
        let places = (0...4).flatMap { x in (0...4).map { y in position(Double(x), Double(y)) } }
        let corners = [position(0, 0), position(4, 0), position(4, 4), position(0, 4), position(0, 0)]
        #expect(ConvexHull.hull(of: places) == .polygon(corners))
    }

    @Test("hulls contain all positions and turn left at every corner", arguments: 1...40)
    func properties(_ seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        let count = Int.random(in: 3...400, using: &random)
        let step = [0.0, 0.25, 0.1][Int(seed % 3)]
        let places = (0..<count).map { _ in
            let x = Double.random(in: -3...3, using: &random)
            let y = Double.random(in: -3...3, using: &random)
            return step == 0 ? position(x, y) : position((x / step).rounded() * step, (y / step).rounded() * step)
        }
        guard case .polygon(let ring) = try #require(ConvexHull.hull(of: places)) else { return }
        #expect(ring.first == ring.last)
        let corners = Array(ring.dropLast())
        #expect(Set(corners).count == corners.count)
        #expect(Set(corners).isSubset(of: Set(places)))
        for index in corners.indices {
            let next = corners[(index + 1) % corners.count]
            let afterNext = corners[(index + 2) % corners.count]
            #expect(Orientation.sign(corners[index].plane, next.plane, afterNext.plane) > 0)
            for place in places {
                #expect(Orientation.sign(corners[index].plane, next.plane, place.plane) >= 0)
            }
        }
    }

    @Test("orientation is exact even if doubles round") func exact() {
        let a = position(0.5, 0.5)
        let b = position(12, 12)
        let c = position(24, 24)
        #expect(Orientation.sign(a.plane, b.plane, c.plane) == 0)
        var near = a
        near.latitude = near.latitude.nextUp
        #expect(Orientation.sign(near.plane, b.plane, c.plane) != 0)
        #expect(
            (Orientation.sign(near.plane, b.plane, c.plane) > 0)
                == (Orientation.sign(b.plane, c.plane, near.plane) > 0))
        #expect(
            (Orientation.sign(near.plane, b.plane, c.plane) > 0)
                != (Orientation.sign(near.plane, c.plane, b.plane) > 0))
        // A line whose direction no double holds: thirds, walked in both directions.
        let thirds = (0...30).map { position(Double($0) / 3, Double($0) / 7) }
        guard case .polygon(let ring)? = ConvexHull.hull(of: thirds) else { return }
        for index in 0..<ring.count - 2 {
            #expect(Orientation.sign(ring[index].plane, ring[index + 1].plane, ring[index + 2].plane) > 0)
        }
    }

    @Test("a hull of many corners is sorted by pieces, and stops at any of them") func cancellation() throws {
        // On a parabola every place is a corner, so that none is left out beforehand.
        let count = 100_000
        let numbers = (0..<count).map { Double($0 &* 7919 % count) - 50_000 }
        let places = numbers.map { position($0 / 1000, $0 * $0 / 1e8) }
        var looks = 0
        let hull = ConvexHull.hull(of: places) {
            looks += 1
            return false
        }
        guard case .polygon(let ring)? = hull else {
            Issue.record("no polygon")
            return
        }
        #expect(ring.count == count + 1)
        #expect(zip(ring, ring.dropFirst()).prefix(count - 1).allSatisfy { $0.longitude < $1.longitude })
        #expect(looks > 20)
        for last in stride(from: 1, through: looks, by: looks / 6) {
            var asked = 0
            let cancelled = ConvexHull.hull(of: places) {
                asked += 1
                return asked >= last
            }
            #expect(cancelled == nil)
            #expect(asked == last)
        }
    }
}
