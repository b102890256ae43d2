// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

@testable import GeoJSON

/// The library that PostGIS and Shapely work with, loaded if the machine has it.
private struct GEOS {
    typealias Context = OpaquePointer
    typealias Shape = OpaquePointer
    private typealias Start = @convention(c) () -> Context?
    private typealias Read = @convention(c) (Context, UnsafePointer<CChar>) -> Shape?
    private typealias Work = @convention(c) (Context, Shape) -> Shape?
    private typealias Number = @convention(c) (Context, Shape, UnsafeMutablePointer<Double>) -> Int32

    private let context: Context
    private let read: Read
    private let centroid: Work
    private let surface: Work
    private let x: Number
    private let y: Number

    init?() {
        guard let library = dlopen("libgeos_c.so.1", RTLD_NOW) else { return nil }
        func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
        guard let start = function("GEOS_init_r", Start.self), let context = start(),
            let read = function("GEOSGeomFromWKT_r", Read.self),
            let centroid = function("GEOSGetCentroid_r", Work.self),
            let surface = function("GEOSPointOnSurface_r", Work.self),
            let x = function("GEOSGeomGetX_r", Number.self), let y = function("GEOSGeomGetY_r", Number.self)
        else { return nil }
        (self.context, self.read, self.centroid, self.surface) = (context, read, centroid, surface)
        (self.x, self.y) = (x, y)
    }

    func position(of text: String, _ placing: GeometryPlacing) -> GeometryPosition? {
        guard let shape = read(context, text),
            let point = placing == .inside ? surface(context, shape) : centroid(context, shape)
        else { return nil }
        var position = GeometryPosition(longitude: 0, latitude: 0)
        guard x(context, point, &position.longitude) == 1, y(context, point, &position.latitude) == 1 else {
            return nil
        }
        return position
    }
}

@Suite("Positions of geometries, beside GEOS's") struct GEOSTests {
    private typealias Ring = [(Double, Double)]

    @Test("centroids and inside points are GEOS's within 1e-9", arguments: [GeometryPlacing.centroid, .inside])
    func random(_ placing: GeometryPlacing) throws {
        guard let geos = GEOS() else {
            print("libgeos_c.so.1 (libgeos-c1v5) is missing: positions are not compared with GEOS's")
            return
        }
        var random = SeededRandom(seed: 20)
        for round in 0..<3000 {
            let (json, text) = Self.geometry(round, &random)
            let feature = #"{"type":"Feature","geometry":\#(json),"properties":{}}"#
            var rules = FeatureRules()
            rules.geometries = placing
            let store = try read(Array(feature.utf8), rules: rules).store
            let expected = try #require(geos.position(of: text, placing), "\(text)")
            let found = store.coordinates(0)
            #expect(
                abs(found.longitude - expected.longitude) < 1e-9,
                "\(text): \(found), not \(expected)")
            #expect(
                abs(found.latitude - expected.latitude) < 1e-9,
                "\(text): \(found), not \(expected)")
        }
    }

    @Test("shapes with known answers") func known() throws {
        let ring = "[[0,0],[10,0],[10,10],[0,10],[0,0]]"
        let cases: [(String, centroid: [Double], inside: [Double])] = [
            (#"{"type":"Polygon","coordinates":[\#(ring)]}"#, [5, 5], [5, 5]),
            (#"{"type":"LineString","coordinates":[[0,0],[10,0]]}"#, [5, 0], [0, 0]),
            (
                #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#,
                [1, 2], [1, 2]
            ),
            (
                #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[90,9]},{"type":"Polygon","coordinates":[\#(ring)]}]}"#,
                [5, 5], [5, 5]
            ),
        ]
        for (json, centroid, inside) in cases {
            for (placing, expected) in [(GeometryPlacing.centroid, centroid), (.inside, inside)] {
                var rules = FeatureRules()
                rules.geometries = placing
                let text = #"{"type":"Feature","geometry":\#(json),"properties":{}}"#
                let store = try read(Array(text.utf8), rules: rules).store
                #expect([store.longitude(0), store.latitude(0)] == expected)
            }
        }
    }

    @Test(
        "flat and tiny areas that are far from each other, beside GEOS's",
        arguments: [GeometryPlacing.centroid, .inside])
    func degenerate(_ placing: GeometryPlacing) throws {
        guard let geos = GEOS() else {
            print("libgeos_c.so.1 (libgeos-c1v5) is missing: positions are not compared with GEOS's")
            return
        }
        let flat = Self.area([
            [
                (35.3, 43.61610095122569), (93.7, 43.61610095122569), (34.6, 43.61610095122569),
                (35.3, 43.61610095122569),
            ]
        ])
        let tiny = Self.area([[(0, 0), (1e-9, 0), (1e-9, 1e-9), (0, 1e-9), (0, 0)]])
        let spot = Self.area([[(5, 5), (5, 5), (5, 5), (5, 5)]])
        let eaten = Self.area([
            [(170, 0), (180, 0), (180, 4), (170, 4), (170, 0)], [(170, 0), (170, 4), (180, 4), (180, 0), (170, 0)],
        ])
        let west = Self.area([[(-180, 0), (-172, 0), (-172, 4), (-180, 0)]])
        let line = (json: #"{"type":"LineString","coordinates":[[7,7],[7,7]]}"#, text: "LINESTRING (7 7,7 7)")
        let parts = [flat, tiny, spot, eaten, west, line]
        for first in parts {
            for second in parts {
                for third in parts {
                    let texts = [first, second, third].map(\.text).joined(separator: ",")
                    let geometries = [second, third].map(\.json).joined(separator: ",")
                    let json =
                        #"{"type":"GeometryCollection","geometries":[\#(first.json),{"type":"GeometryCollection","geometries":[\#(geometries)]}]}"#
                    let expected = try #require(geos.position(of: "GEOMETRYCOLLECTION (\(texts))", placing))
                    var rules = FeatureRules()
                    rules.geometries = placing
                    let feature = #"{"type":"Feature","geometry":\#(json),"properties":{}}"#
                    let found = try read(Array(feature.utf8), rules: rules).store.coordinates(0)
                    #expect(
                        abs(found.longitude - expected.longitude) < 1e-9,
                        "\(texts): \(found), not \(expected)")
                    #expect(
                        abs(found.latitude - expected.latitude) < 1e-9,
                        "\(texts): \(found), not \(expected)")
                }
            }
        }
    }

    @Test(
        "geometries that GeoJSON does not have are invalid",
        arguments: [
            #"{"type":"LineString","coordinates":[[1,2]]}"#, #"{"type":"LineString","coordinates":[]}"#,
            #"{"type":"Polygon","coordinates":[]}"#,
            #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}"#,
            #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}"#,
            #"{"type":"Polygon","coordinates":[[0,0],[1,0],[1,1],[0,0]]}"#,
            #"{"type":"MultiPoint","coordinates":[]}"#,
            #"{"type":"MultiPoint","coordinates":[[1,2],[200,0]]}"#,
            #"{"type":"GeometryCollection","geometries":[]}"#, #"{"type":"Circle","coordinates":[1,2]}"#,
            #"{"type":"LineString","coordinates":[[1,2],[3,"4"]]}"#,
            #"{"type":"LineString","coordinates":[[1,2],[3,95]]}"#,
        ])
    func invalid(_ json: String) throws {
        var rules = FeatureRules()
        rules.geometries = .inside
        let text = #"{"type":"Feature","geometry":\#(json),"properties":{}}"#
        #expect(throws: GeoJSONError.self) { try read(Array(text.utf8), rules: rules) }
    }

    @Test("each position of a MultiPoint is a point, and together they are one feature") func multipoint() throws {
        var rules = FeatureRules()
        rules.geometries = .multipoint
        let many =
            #"{"type":"Feature","id":7,"geometry":{"type":"MultiPoint","coordinates":[[1,2],[3,4,5],[6,7]],"x":1},"properties":{"a":1}}"#
        let line =
            #"{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]},"properties":{}}"#
        var builder = FeatureStoreBuilder(policy: .skip, rules: rules)
        try builder.add("[\(feature()),\(many),\(line),\(feature("9"))]")
        #expect(builder.accepted == 3)
        #expect(builder.skippedReasons == ["notAPoint": 1])
        let groups = builder.groups
        #expect((0..<5).map { groups.rows(of: $0) } == [0..<1, 1..<4, 1..<4, 1..<4, 4..<5])
        #expect((0..<5).map { groups.feature(of: $0) } == [0, 1, 1, 1, 2])
        let store = builder.finish()
        #expect(
            store.text(2)
                == #"{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[3,4,5],"x":1},"properties":{"a":1}}"#
        )
        #expect(store.text(2, precision: 0).contains(#""coordinates":[3,4,5],"x":1}"#))
    }

    // MARK: Random geometries

    private static func geometry(_ round: Int, _ random: inout SeededRandom) -> (json: String, text: String) {
        switch round % 6 {
        case 0: return area([star(&random)])
        case 1:
            let shell = star(&random)
            let hole = shell.map { ($0.0 * 0.3 + shell[0].0 * 0.001, $0.1 * 0.3) }
            return area([shell, Array(hole.reversed())])
        case 2:
            let shapes = (0..<Int.random(in: 1...4, using: &random)).map { _ in area([star(&random)]) }
            return many("MultiPolygon", shapes)
        case 3: return line(Int.random(in: 2...9, using: &random), &random)
        case 4:
            let shapes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                line(Int.random(in: 2...6, using: &random), &random)
            }
            return many("MultiLineString", shapes)
        default:
            // A ring that may cross itself, or be flat.
            var ring = (0..<Int.random(in: 3...7, using: &random)).map { _ in place(&random) }
            if Int.random(in: 0..<4, using: &random) == 0 { ring = ring.map { ($0.0, 1.5) } }
            return area([ring + [ring[0]]])
        }
    }

    private static func place(_ random: inout SeededRandom) -> (Double, Double) {
        (Double.random(in: -170...170, using: &random), Double.random(in: -80...80, using: &random))
    }

    /// A ring around a middle that does not cross itself.
    private static func star(_ random: inout SeededRandom) -> Ring {
        let centre = (Double.random(in: -100...100, using: &random), Double.random(in: -50...50, using: &random))
        let count = Int.random(in: 3...12, using: &random)
        var ring: Ring = (0..<count).map { corner in
            let angle = 2 * Double.pi * Double(corner) / Double(count)
            let radius = Double.random(in: 1...20, using: &random)
            return (centre.0 + radius * cos(angle), centre.1 + radius * sin(angle))
        }
        if Bool.random(using: &random) { ring.reverse() }
        return ring + [ring[0]]
    }

    private static func area(_ rings: [Ring]) -> (json: String, text: String) {
        let json = rings.map { "[" + $0.map { "[\($0.0),\($0.1)]" }.joined(separator: ",") + "]" }
        let text = rings.map { "(" + $0.map { "\($0.0) \($0.1)" }.joined(separator: ",") + ")" }
        return (
            #"{"type":"Polygon","coordinates":[\#(json.joined(separator: ","))]}"#,
            "POLYGON (\(text.joined(separator: ",")))"
        )
    }

    private static func line(_ count: Int, _ random: inout SeededRandom) -> (json: String, text: String) {
        let places = (0..<count).map { _ in place(&random) }
        return (
            #"{"type":"LineString","coordinates":[\#(places.map { "[\($0.0),\($0.1)]" }.joined(separator: ","))]}"#,
            "LINESTRING (\(places.map { "\($0.0) \($0.1)" }.joined(separator: ",")))"
        )
    }

    /// Several geometries of one kind as one.
    private static func many(_ type: String, _ shapes: [(json: String, text: String)]) -> (json: String, text: String) {
        let json = shapes.map { shape in
            let start = shape.json.range(of: "\"coordinates\":")?.upperBound ?? shape.json.startIndex
            return String(shape.json[start...].dropLast())
        }
        let text = shapes.map { shape in String(shape.text.drop { $0 != "(" }) }
        return (
            #"{"type":"\#(type)","coordinates":[\#(json.joined(separator: ","))]}"#,
            "\(type.uppercased()) (\(text.joined(separator: ",")))"
        )
    }
}
