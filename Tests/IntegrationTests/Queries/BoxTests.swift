// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// A box's answer is what of the whole world's lies in it: beyond the antimeridian, at the poles, turned round.
@Suite("Boxes of every kind") struct BoxTests {
    private struct Node {
        let x: Double
        let y: Double
        let text: String
    }

    private static let edges: [Double] = [-540, -360, -180, 0, 180, 360, 540]
    private static let parallels: [Double] = [-100, -90, -85.0511287798, 0, 85.0511287798, 90, 100]

    @Test("contain the nodes inside", arguments: [-3.5, 0, 1, 2.7, 5, 9.999, 12, 17, 400])
    func brute(_ zoom: Double) throws {
        let daemon = try DaemonProcess()
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let points =
            GoldenDataset.points(kind: "c", count: 500, seed: 7) + GoldenDataset.points(kind: "d", count: 150, seed: 3)
        _ = try client.importFeatures("s", points.map(\.feature))
        func features(_ box: [Double]) throws -> [JSONValue] {
            let params: JSONValue = ["source": "s", "bbox": .array(box.map { .number($0) }), "zoom": .number(zoom)]
            return try #require(try client.call("ClusterService/GetClusters", params)["features"]?.array)
        }
        let world = try features([-180, -90, 180, 90]).map { feature in
            let place = try #require(feature["geometry"]?["coordinates"]?.array?.compactMap { $0.number })
            return Node(x: Self.x(place[0]).asFloat, y: Self.y(place[1]).asFloat, text: feature.text)
        }
        #expect(!world.isEmpty)
        var random = PythonRandom(seed: 11)
        for _ in 0..<60 {
            let box = [
                Self.pick(Self.edges, 400, &random), Self.pick(Self.parallels, 90, &random),
                Self.pick(Self.edges, 400, &random), Self.pick(Self.parallels, 90, &random),
            ]
            let expected = Self.parts(box).flatMap { part in
                world.filter { part.x.contains($0.x) && part.y.contains($0.y) }.map(\.text)
            }
            #expect(try features(box).map(\.text).sorted() == expected.sorted(), "\(box) at \(zoom)")
        }
    }

    private static func pick(_ edges: [Double], _ range: Double, _ random: inout PythonRandom) -> Double {
        random.random() < 0.3 ? edges[random.randrange(edges.count)] : random.uniform(-range, range)
    }

    /// The boxes within the world that a box stands for, as supercluster has it.
    private static func parts(_ box: [Double]) -> [(x: Range, y: Range)] {
        func wrapped(_ longitude: Double) -> Double { fmod(fmod(longitude + 180, 360) + 360, 360) - 180 }
        let rows = Range(y(min(90, max(-90, box[3]))), y(min(90, max(-90, box[1]))))
        if box[2] - box[0] >= 360 { return [(Range(0, 1), rows)] }
        let (west, east) = (wrapped(box[0]), box[2] == 180 ? 180 : wrapped(box[2]))
        if west > east { return [(Range(x(west), 1), rows), (Range(0, x(east)), rows)] }
        return [(Range(x(west), x(east)), rows)]
    }

    /// Both ends belong to it; a lower end above the upper one leaves nothing.
    private struct Range {
        let lower: Double
        let upper: Double

        init(_ lower: Double, _ upper: Double) { (self.lower, self.upper) = (lower, upper) }

        func contains(_ value: Double) -> Bool { lower <= value && value <= upper }
    }

    private static func x(_ longitude: Double) -> Double { longitude / 360 + 0.5 }

    private static func y(_ latitude: Double) -> Double {
        let sine = sin(latitude * .pi / 180)
        return min(1, max(0, 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / .pi))
    }
}

extension Double {
    /// As supercluster keeps places of points.
    fileprivate var asFloat: Double { Double(Float(self)) }
}
