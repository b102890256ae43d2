// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@testable import Clustering

/// Counts, ranks and histograms must equal those over all points, one by one.
@Suite("Values of points") struct PointValuesTests {
    /// Kinds of values, each with some points that have none.
    enum Values: String, CaseIterable, Sendable {
        case times, few, fractions, wide, same, none

        func numbers(_ count: Int, _ random: inout SeededGenerator) -> [Double] {
            (0..<count).map { _ in
                guard random.next() % 8 > 0 else { return [.nan, .infinity][Int(random.next() % 2)] }
                return one(&random)
            }
        }

        func one(_ random: inout SeededGenerator) -> Double {
            switch self {
            case .times: Double(Int.random(in: 1_600_000_000_000...1_700_000_000_000, using: &random))
            case .few: [-0.0, 0, 1, -3, 7][Int.random(in: 0..<5, using: &random)]
            case .fractions: Double.random(in: -2...5, using: &random)
            case .wide: Double(bitPattern: random.next())
            case .same: 12.5
            case .none: .nan
            }
        }
    }

    /// Points with values, and an index of both.
    struct Live {
        var places: [Position?]
        var numbers: [Double]
        var index: ClusterIndex
        var values: PointValues
        let original: [Position]

        init(_ places: [Position], _ numbers: [Double], _ options: ClusteringOptions) throws {
            (self.places, self.numbers, original) = (places, numbers, places)
            index = try ClusterIndex.build(places, options)
            values = PointValues(of: index)
            try values.add("other", numbers.map { -$0 }, of: index, threads: 2)
            try values.add("value", numbers, of: index, threads: 2)
        }

        /// Moves, adds and removes some points, some of them only by their value.
        mutating func change(_ count: Int, _ kind: Values, _ random: inout SeededGenerator) throws {
            var changes = PointChanges()
            let alive = places.indices.filter { places[$0] != nil }.shuffled(using: &random)
            for (turn, number) in alive.prefix(count).enumerated() {
                let point = PointIndex(rawValue: UInt32(number))
                if turn % 3 == 0 {
                    changes.removed.append(point)
                    continue
                }
                let to = turn % 3 == 1 ? places[number] : PointSet.uniform.places(1, seed: random.next()).first
                let place = try #require(to)
                changes.moved.append(
                    PointChanges.Placement(point: point, longitude: place.longitude, latitude: place.latitude))
            }
            for (turn, place) in PointSet.gathered.places(count, seed: random.next()).enumerated() {
                changes.added.append(
                    PointChanges.Placement(
                        point: PointIndex(rawValue: UInt32(index.pointLimit + turn)), longitude: place.longitude,
                        latitude: place.latitude))
            }
            let original = original
            let update = try #require(
                index.updated(changes) { point in
                    let place = original[Int(point.rawValue)]
                    return (place.longitude, place.latitude)
                })
            index = update.index
            for point in changes.removed { places[Int(point.rawValue)] = nil }
            for placement in changes.added {
                places.append(nil)
                numbers.append(.nan)
                #expect(places.count == Int(placement.point.rawValue) + 1)
            }
            for placement in changes.moved + changes.added {
                let number = Int(placement.point.rawValue)
                places[number] = Position(longitude: placement.longitude, latitude: placement.latitude)
                numbers[number] = kind.one(&random)
                values.place(placement.point, [-numbers[number], numbers[number]])
            }
        }

        func points(_ property: String = "value") throws -> IndexedPoints {
            try #require(IndexedPoints(index, values, property: property))
        }

        func value(_ point: PointIndex) -> Double? {
            let number = numbers[Int(point.rawValue)]
            return number.isFinite ? number : nil
        }

        func members(_ node: Node) -> [PointIndex] {
            switch node {
            case .point(let point): [point]
            case .cluster(let cluster): Array(index.leaves(of: cluster))
            }
        }

        /// Those that the deepest level shows in a box.
        func members(_ box: CoordinateBox) -> [PointIndex] {
            var nodes: [Node] = []
            _ = index.nodes(
                west: box.west, south: box.south, east: box.east, north: box.north,
                at: Zoom(rawValue: index.options.maximumZoom + 1), into: &nodes)
            return nodes.compactMap { if case .point(let point) = $0 { point } else { nil } }
        }

        func top(_ members: [PointIndex], _ order: IndexedPoints.Order, _ counts: (PointIndex) -> Bool) -> [PointIndex]
        {
            members.filter { value($0) != nil && counts($0) }.sorted { one, other in
                let (a, b) = (value(one) ?? 0, value(other) ?? 0)
                return a == b ? one < other : order == .descending ? a > b : a < b
            }
        }
    }

    private static func bounds(_ live: Live, _ random: inout SeededGenerator) -> [(Double?, Double?)] {
        let some = live.numbers.filter(\.isFinite).shuffled(using: &random).prefix(6)
        return zip(some, some.dropFirst()).map { (min($0, $1), max($0, $1)) } + [
            (nil, nil), (nil, some.first), (some.last, nil),
        ]
            + some.prefix(1).map { ($0, $0) }
    }

    private static func boxes(_ random: inout SeededGenerator) -> [CoordinateBox] {
        let world = CoordinateBox(west: -180, south: -90, east: 180, north: 90)
        let across = CoordinateBox(west: 150, south: -60, east: -120, north: 80)
        return [world, across]
            + (0..<8).map { turn in
                let size = [40.0, 5, 0.5, 0.01][turn % 4]
                let (x, y) = (
                    Double.random(in: -170...170, using: &random), Double.random(in: -80...75, using: &random)
                )
                return CoordinateBox(west: x, south: y, east: x + size, north: y + size / 2)
            } + [CoordinateBox(west: -0.9, south: -0.9, east: 0.5, north: 0.4)]
    }

    private static func check(_ live: Live, _ label: String, _ random: inout SeededGenerator) throws {
        let points = try live.points()
        #expect(
            live.places.indices.allSatisfy { number in
                let point = PointIndex(rawValue: UInt32(number))
                return live.places[number] == nil || points.value(of: point) == live.value(point)
            }, "\(label): single values")
        #expect(
            zip(points.allValues(), live.numbers).enumerated().allSatisfy { number, pair in
                live.places[number] == nil || pair.0 == pair.1 || (pair.0.isNaN && !pair.1.isFinite)
            }, "\(label): all values")
        let windows = bounds(live, &random).map { ($0, PointWindow(points, from: $0.0, to: $0.1)) }
        for (bounds, window) in windows {
            func isInside(_ point: PointIndex) -> Bool {
                live.value(point).map { $0 >= bounds.0 ?? -.infinity && $0 < bounds.1 ?? .infinity } ?? false
            }
            for level in [0, 3, 6, live.index.options.maximumZoom + 1] {
                try checkNodes(live, points, window, level, "\(label), window \(bounds), level \(level)", isInside)
            }
        }
        for box in boxes(&random) { try checkBox(live, box, windows, "\(label), \(box)") }
    }

    private static func checkNodes(
        _ live: Live, _ points: IndexedPoints, _ window: PointWindow, _ level: Int, _ label: String,
        _ isInside: (PointIndex) -> Bool
    ) throws {
        var nodes: [Node] = []
        _ = live.index.nodes(west: -180, south: -90, east: 180, north: 90, at: Zoom(rawValue: level), into: &nodes)
        let others = try live.points("other")
        for node in nodes.prefix(60) {
            let members = live.members(node)
            let inside = members.filter(isInside)
            try #require(window.count(of: node) == inside.count, "\(label): count of \(node)")
            try #require(members.allSatisfy { window.contains($0) == isInside($0) }, "\(label): \(node)")
            for order in [IndexedPoints.Order.ascending, .descending] {
                let top = live.top(members, order) { _ in true }.first
                try #require(points.top(of: node, order) == top, "\(label): top of \(node)")
                let counted = live.top(members, order, isInside).first
                try #require(points.top(of: node, order, in: window) == counted, "\(label): top in window of \(node)")
                let opposite = live.top(members, order == .ascending ? .descending : .ascending, isInside).first
                try #require(others.top(of: node, order, in: window) == opposite, "\(label): other top of \(node)")
            }
            if case .cluster(let cluster) = node {
                try #require(window.leaves(of: cluster) == inside, "\(label): leaves of \(node)")
                let page = window.leaves(of: cluster, offset: inside.count / 3, limit: 2)
                try #require(page == Array(inside.dropFirst(inside.count / 3).prefix(2)), "\(label): page of \(node)")
            }
        }
    }

    private static func checkBox(
        _ live: Live, _ box: CoordinateBox, _ windows: [((Double?, Double?), PointWindow)], _ label: String
    ) throws {
        let (points, others) = (try live.points(), try live.points("other"))
        let members = live.members(box)
        let spans = points.spans(in: box)
        try #require(spans.count == members.count, "\(label): points")
        for order in [IndexedPoints.Order.ascending, .descending] {
            let all = live.top(members, order) { _ in true }
            for limit in [1, 5, 1000] {
                try #require(
                    points.top(in: box, order, limit: limit) == Array(all.prefix(limit)), "\(label): top \(limit)")
            }
        }
        let found = members.compactMap(live.value)
        try checkHistogram(points.histogram(in: box, bins: 7), found, members.count, "\(label): 7 bins")
        if let least = found.min(), let greatest = found.max(), least < greatest {
            let edges = [least, least / 2 + greatest / 2, greatest]
            let histogram = points.histogram(in: box, edges: edges)
            try #require(histogram.edges == edges)
            try checkHistogram(histogram, found, members.count, "\(label): edges")
        }
        for (bounds, window) in windows {
            let inside = members.filter { window.contains($0) }
            let values = inside.compactMap(live.value).map { -$0 }
            try checkHistogram(
                others.histogram(in: box, bins: 5, window: window), values, inside.count, "\(label), window \(bounds)")
            let order = IndexedPoints.Order.ascending
            try #require(
                others.top(in: box, order, limit: 3, in: window)
                    == Array(live.top(inside, .descending) { _ in true }.prefix(3)), "\(label), window \(bounds): top")
        }
    }

    private static func checkHistogram(_ histogram: ValueHistogram, _ values: [Double], _ count: Int, _ label: String)
        throws
    {
        let edges = histogram.edges
        let (first, last) = (try #require(edges.first), try #require(edges.last))
        for (bin, counted) in histogram.counts.enumerated() {
            let expected = values.count {
                $0 >= edges[bin] && ($0 < edges[bin + 1] || (bin == histogram.counts.count - 1 && $0 == last))
            }
            try #require(counted == expected, "\(label): bin \(bin) of \(edges)")
        }
        try #require(histogram.below == values.count { $0 < first }, "\(label): below")
        try #require(histogram.above == values.count { $0 > last }, "\(label): above")
        try #require(histogram.missing == count - values.count, "\(label): missing")
    }

    @Test("equal a count over all points", arguments: PointSet.allCases, Values.allCases)
    func equalsNaive(_ set: PointSet, _ kind: Values) throws {
        var random = SeededGenerator(state: 7)
        let places = set.places(700)
        let precision: ClusteringOptions.Precision = [.float, .fixed, .double][kind.rawValue.count % 3]
        let live = try Live(
            places, kind.numbers(places.count, &random), ClusteringOptions(maximumZoom: 8, precision: precision))
        try Self.check(live, "\(set) \(kind)", &random)
    }

    @Test("equal a count over all points after changes", arguments: PointSet.allCases, [Values.times, .few, .wide])
    func followsChanges(_ set: PointSet, _ kind: Values) throws {
        var random = SeededGenerator(state: 11)
        let places = set.places(250)
        var live = try Live(places, kind.numbers(places.count, &random), ClusteringOptions(maximumZoom: 8))
        for round in 0..<3 {
            try live.change(8, kind, &random)
            try Self.check(live, "\(set) \(kind), round \(round)", &random)
        }
    }

    @Test("many points, and clusters of three or more", arguments: [2, 3, 40])
    func many(_ minimumPoints: Int) throws {
        var random = SeededGenerator(state: 3)
        let places = PointSet.gathered.places(20_000)
        var options = ClusteringOptions(maximumZoom: 12)
        options.minimumPoints = minimumPoints
        let live = try Live(places, Values.few.numbers(places.count, &random), options)
        for box in Self.boxes(&random) {
            try Self.checkBox(live, box, [((0, 2), PointWindow(try live.points(), from: 0, to: 2))], "\(box)")
        }
    }

    @Test("no points, and one") func extremes() throws {
        for count in 0...2 {
            var random = SeededGenerator(state: 1)
            let live = try Live(PointSet.uniform.places(count), (0..<count).map(Double.init), ClusteringOptions())
            try Self.check(live, "\(count) points", &random)
            let empty = try live.points().histogram(
                in: CoordinateBox(west: 1, south: 1, east: 1.001, north: 1.001), bins: 2)
            #expect(empty == ValueHistogram(edges: [0, 0.5, 1], counts: [0, 0], below: 0, above: 0, missing: 0))
        }
    }

    @Test("a histogram of values whose difference is beyond a double has finite edges", arguments: [1, 2, 3, 4, 7])
    func widestHistogram(_ bins: Int) throws {
        let greatest = 1.7e308
        let live = try Live(PointSet.uniform.places(3), [-greatest, 0, greatest], ClusteringOptions())
        let world = CoordinateBox(west: -180, south: -90, east: 180, north: 90)
        let found = try live.points().histogram(in: world, bins: bins)
        #expect(found.edges.first == -greatest)
        #expect(found.edges.last == greatest)
        #expect(zip(found.edges, found.edges.dropFirst()).allSatisfy { $0 < $1 && $1.isFinite }, "\(found.edges)")
        try Self.checkHistogram(found, [-greatest, 0, greatest], 3, "\(bins) bins")
    }

    @Test("take at most eight bytes a point", arguments: Values.allCases)
    func size(_ kind: Values) throws {
        var random = SeededGenerator(state: 5)
        let places = PointSet.gathered.places(50_000)
        let index = try ClusterIndex.build(places, ClusteringOptions())
        var values = PointValues(of: index)
        try values.add("value", kind.numbers(places.count, &random), of: index, threads: 1)
        // Patterns of all 64 bits at random cannot be compressed, and the ranks come on top of them.
        let most = kind == .wide ? 9.0 : 8
        #expect(Double(values.memoryBytes) / Double(places.count) < most)
    }

    @Test("are read back from their sections") func sections() throws {
        var random = SeededGenerator(state: 5)
        let places = PointSet.gathered.places(3000)
        let live = try Live(places, Values.times.numbers(places.count, &random), ClusteringOptions(maximumZoom: 9))
        var stored: [UInt32: [UInt64]] = [:]
        live.values.forEachSection { number, bytes in
            stored[number] = Array(bytes.bindMemory(to: UInt64.self))
        }
        let owner = SectionOwner(stored)
        let read = try #require(
            PointValues(live.values.names, of: live.index, memory: owner) {
                owner.sections[$0] ?? .init(start: nil, count: 0)
            })
        #expect(read.memoryBytes == 0)
        #expect(read.fileBytes == live.values.memoryBytes)
        var copy = live
        copy.values = read
        try Self.check(copy, "read back", &random)
        #expect(
            PointValues(live.values.names, of: live.index, memory: owner) { number in
                let bytes = owner.sections[number] ?? .init(start: nil, count: 0)
                return number == 2 ? UnsafeRawBufferPointer(rebasing: bytes.dropLast(16)) : bytes
            } == nil, "a section that is too short was accepted")
    }

    /// Keeps sections in memory.
    ///
    /// `@unchecked Sendable` holds because nobody writes them.
    private final class SectionOwner: IndexMemory, @unchecked Sendable {
        let sections: [UInt32: UnsafeRawBufferPointer]
        let isDamaged = false
        let isResident = true
        let isEvictable = true

        init(_ stored: [UInt32: [UInt64]]) {
            sections = stored.mapValues { words in
                let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: words.count * 8, alignment: 8)
                words.withUnsafeBytes { memory.copyMemory(from: $0) }
                return UnsafeRawBufferPointer(memory)
            }
        }

        deinit { for bytes in sections.values { bytes.deallocate() } }
    }
}
