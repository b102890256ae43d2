// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

/// Grids must equal a count over all points by their exact coordinates.
@Suite("Grids") struct GridTests {
    private typealias Live = PointValuesTests.Live

    /// The column or row of an exact position.
    private static func tile(_ position: Double, _ zoom: Int) -> Int {
        let side = Double(1 << zoom)
        return Int(min(max(0, (position * side).rounded(.down)), side - 1))
    }

    /// Whether a box's closed interval and a square's half-open one have a position in common; at the end of the world
    /// the square's is closed, too.
    private static func meet(_ low: Double, _ high: Double, _ tile: Int, _ zoom: Int) -> Bool {
        let side = Double(1 << zoom)
        let isLast = Double(tile) == side - 1
        return low <= high && high * side >= Double(tile) && (isLast || low * side < Double(tile + 1))
    }

    /// The longitudes of a box, wrapped around the world.
    private static func longitudes(_ box: CoordinateBox) -> [(Double, Double)] {
        guard box.east - box.west < 360 else { return [(-180, 180)] }
        func wrapped(_ longitude: Double) -> Double {
            longitude - 360 * ((longitude + 180) / 360).rounded(.down)
        }
        let (west, east) = (wrapped(box.west), box.east == 180 ? 180 : wrapped(box.east))
        return west > east ? [(west, 180), (-180, east)] : [(west, east)]
    }

    private static func touches(_ box: CoordinateBox, _ x: Int, _ y: Int, _ zoom: Int, _ projection: Projection) -> Bool
    {
        func clamped(_ latitude: Double) -> Double { projection.isRound ? max(-90, min(90, latitude)) : latitude }
        let rows = (projection.y(latitude: clamped(box.north)), projection.y(latitude: clamped(box.south)))
        let columns = projection.isRound ? longitudes(box) : [(box.west, box.east)]
        return meet(rows.0, rows.1, y, zoom)
            && columns.contains { meet(projection.x(longitude: $0.0), projection.x(longitude: $0.1), x, zoom) }
    }

    private static func naive(_ live: Live, _ zoom: Int, _ counts: (PointIndex) -> Bool) -> [OccupiedSquare] {
        let projection = live.index.projection
        var found: [SIMD2<Int>: Int] = [:]
        for (number, place) in live.places.enumerated() where counts(PointIndex(rawValue: UInt32(number))) {
            guard let place else { continue }
            let (x, y) = (projection.x(longitude: place.longitude), projection.y(latitude: place.latitude))
            found[SIMD2(tile(y, zoom), tile(x, zoom)), default: 0] += 1
        }
        return found.sorted { ($0.key.x, $0.key.y) < ($1.key.x, $1.key.y) }
            .map { OccupiedSquare(x: $0.key.y, y: $0.key.x, pointCount: $0.value) }
    }

    private static let boxes = [
        (-180.0, -90.0, 180.0, 90.0), (-1e15, -1e15, 1e15, 1e15), (150, -60, -120, 80), (-20.5, -20.5, 3, 11.25),
        (0, 0, 90, 66.51326044311186), (0, 0, 0, 0), (179, -90, 181, 90), (10, -5, 5, 60), (170, 10, 530, 20),
        (9.99, 19.99, 10.01, 20.01), (5, 20, 6, 10), (-180, -90, -180, 90), (0, 89, 180, 95),
    ].map { CoordinateBox(west: $0.0, south: $0.1, east: $0.2, north: $0.3) }

    private static func check(_ live: Live, _ label: String) throws {
        let window = PointWindow(try live.points(), from: 0, to: 1.65e12)
        for zoom in [0, 1, 2, 5, 9, 16, 22, 23, 24, 25, 26] {
            for window in [nil, window] {
                let all = naive(live, zoom) { window?.contains($0) ?? true }
                for box in boxes where live.index.projection.isRound || box.west <= box.east {
                    let expected = all.filter { touches(box, $0.x, $0.y, zoom, live.index.projection) }
                    let squares = live.index.squares(touching: box, zoom: zoom)
                    let counts = live.index.pointCounts(in: squares, window: window, limit: 100_000) { point in
                        let place = live.places[Int(point.rawValue)]
                        return (place?.longitude ?? 0, place?.latitude ?? 0)
                    }
                    try #require(
                        counts == expected, "\(label), zoom \(zoom), \(box), \(window == nil ? "all" : "window")")
                }
            }
        }
    }

    private static func live(_ places: [Position], _ options: ClusteringOptions) throws -> Live {
        var random = SeededGenerator(state: 9)
        return try Live(places, PointValuesTests.Values.times.numbers(places.count, &random), options)
    }

    @Test(
        "equal a count over all points", arguments: PointSet.allCases,
        [ClusteringOptions.Precision.float, .fixed, .double])
    func equalsNaive(_ set: PointSet, _ precision: ClusteringOptions.Precision) throws {
        let options = ClusteringOptions(maximumZoom: 8, precision: precision)
        try Self.check(try Self.live(set.places(400), options), "\(set), \(precision)")
    }

    @Test(
        "equal it on a plane", arguments: [PointSet.uniform, .gathered, .grid],
        [ClusteringOptions.Precision.float, .fixed])
    func planes(_ set: PointSet, _ precision: ClusteringOptions.Precision) throws {
        let options = ClusteringOptions(maximumZoom: 8, precision: precision, projection: PlaneTests.plane)
        try Self.check(try Self.live(set.places(400), options), "plane, \(set), \(precision)")
    }

    @Test("equal it after changes", arguments: [PointSet.uniform, .gathered, .edges])
    func changes(_ set: PointSet) throws {
        var random = SeededGenerator(state: 4)
        var live = try Self.live(set.places(900), ClusteringOptions(maximumZoom: 8))
        for round in 0..<4 {
            try live.change(8, .times, &random)
            try Self.check(live, "\(set), round \(round)")
        }
    }

    @Test("points on edges of squares, and a breadth of a double beside them, are in the right one")
    func edges() throws {
        var places: [Position] = []
        for zoom in [1, 2, 5, 9, 16, 22, 25, 26] {
            for share in [0.25, 0.5, 0.75, 0.3017578125] {
                let edge = (share * Double(1 << zoom)).rounded() / Double(1 << zoom)
                let (longitude, latitude) = (Mercator.longitude(x: edge), Mercator.latitude(y: edge))
                for x in [longitude.nextDown, longitude, longitude.nextUp] {
                    for y in [latitude.nextDown, latitude, latitude.nextUp] {
                        places.append(Position(longitude: x, latitude: y))
                    }
                }
            }
        }
        for precision in [ClusteringOptions.Precision.float, .fixed, .double] {
            let options = ClusteringOptions(maximumZoom: 8, precision: precision)
            try Self.check(try Self.live(places, options), "edges, \(precision)")
        }
    }

    @Test("longitude 180 is in the last column, the poles in the first and the last row") func ends() throws {
        let live = try Self.live(
            [
                Position(longitude: 180, latitude: 0), Position(longitude: -180, latitude: 90),
                Position(longitude: 0, latitude: -90),
            ], ClusteringOptions())
        let squares = live.index.squares(
            touching: CoordinateBox(west: -180, south: -90, east: 180, north: 90), zoom: 3)
        let counts = live.index.pointCounts(in: squares, limit: 3) { point in
            let place = live.places[Int(point.rawValue)]
            return (place?.longitude ?? 0, place?.latitude ?? 0)
        }
        #expect(
            counts == [
                OccupiedSquare(x: 0, y: 0, pointCount: 1), OccupiedSquare(x: 7, y: 4, pointCount: 1),
                OccupiedSquare(x: 4, y: 7, pointCount: 1),
            ])
    }

    @Test("more squares than the limit are none") func limit() throws {
        let places = PointSet.grid.places(400)
        let live = try Self.live(places, ClusteringOptions())
        let squares = live.index.squares(
            touching: CoordinateBox(west: -180, south: -90, east: 180, north: 90), zoom: 12)
        func counts(_ limit: Int) -> [OccupiedSquare]? {
            live.index.pointCounts(in: squares, limit: limit) { point in
                (places[Int(point.rawValue)].longitude, places[Int(point.rawValue)].latitude)
            }
        }
        #expect(counts(400)?.count == 400)
        #expect(counts(399) == nil)
    }

    @Test("a tile's squares are those of its block") func blocks() {
        let squares = GridSquares(of: TileBlock(zoom: 3, cell: TileCell(x: 5, y: 2)), depth: 2)
        #expect(squares.zoom == 5 && squares.columns == [20..<24] && squares.rows == 8..<12)
    }

    @Test("many points are counted by words, and single ones only at edges") func words() throws {
        let places = PointSet.uniform.places(20_000)
        let live = try Self.live(places, ClusteringOptions())
        let squares = live.index.squares(
            touching: CoordinateBox(west: -180, south: -90, east: 180, north: 90), zoom: 4)
        var looked = 0
        let counts = live.index.pointCounts(in: squares, limit: 256) { point in
            looked += 1
            return (places[Int(point.rawValue)].longitude, places[Int(point.rawValue)].latitude)
        }
        #expect(counts?.reduce(0) { $0 + $1.pointCount } == 20_000)
        #expect(looked < 20)
    }
}
