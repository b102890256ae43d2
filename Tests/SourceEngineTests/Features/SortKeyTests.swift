// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("The option sortKey") struct SortKeyTests {
    /// All that a source answers at some zooms, without the revision's number.
    private static func answers(_ test: TestSource, _ filter: String? = nil) throws -> [String] {
        var answers: [String] = []
        for zoom in [0.0, 2, 5, 9, 17] {
            answers.append(try test.world(zoom, filter: filter, FeatureOutput(include: [.key])).text)
            for id in try test.world(zoom, filter: filter).clusterIds.prefix(3) {
                answers.append(
                    try test.answer(filter) {
                        try $0.writeLeaves(of: id, in: $1, limit: 0, offset: 0, into: &$2, .never)
                    }.text)
            }
        }
        let tile = try #require(TileAddress(z: 1, x: 0, y: 0))
        answers.append(try test.answer(filter) { try $0.writeTile(tile, of: $1, into: &$2, .never) }.text)
        let number = #""revision":\#(test.source.revision.number)"#
        return answers.map { $0.replacingOccurrences(of: number, with: "") }
    }

    @Test("a column of keys sorts as the keys do, in one part and in several", arguments: 0..<40)
    func column(_ seed: Int) {
        var random = PythonRandom(seed: UInt32(seed))
        func below(_ bound: Int) -> Int { min(bound - 1, Int(random.random() * Double(bound))) }
        // Few letters, so that many strings share their beginning, zero bytes among them.
        let keys = (0..<300).map { _ -> SortKey in
            switch seed % 4 == 3 ? below(4) : seed % 4 {
            case 0: .number(Double(below(9) - 4) * 0.5)
            case 3: .none
            default: .text((0..<below(30)).map { _ in UInt8([0, 97, 97, 97, 97, 255][below(6)]) })
            }
        }
        let expected = keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        for parts in [1, 3] {
            let columns = (0..<parts).map { part in
                var column = SortKeyColumn()
                for key in keys[300 * part / parts..<300 * (part + 1) / parts] { column.append(key) }
                return column
            }
            let column = SortKeyColumn(joining: columns)
            #expect((0..<300).map { column.key($0) } == keys)
            #expect((column.sortedIndexes(threads: 2) ?? []).map { Int($0) } == expected)
        }
    }

    private static let options = [
        #"{"sortKey":["id"],"clusterIds":"origin"}"#,
        #"{"sortKey":["id"],"clusterIds":"origin","maxZoom":9,"partitionBy":["get","category"]}"#,
        #"{"sortKey":["id"],"clusterIds":"origin","weight":["+",1,["get","value"]],"clusterProperties":{"sum":["+",["get","score"]],"kinds":["distinct",["get","category"]]}}"#,
        #"{"sortKey":["id"],"clusterIds":"origin","precision":"fixed"}"#,
    ]

    @Test("shuffles, batches and histories that end with the same features have the same answers", arguments: 0..<25)
    func histories(_ seed: Int) throws {
        var random = PythonRandom(seed: UInt32(seed + 40))
        func whole(_ bound: Int) -> Int { min(bound - 1, Int(random.random() * Double(bound))) }
        func shuffled<Element>(_ elements: [Element]) -> [Element] {
            var elements = elements
            for place in elements.indices.reversed() { elements.swapAt(place, whole(place + 1)) }
            return elements
        }
        let options = Self.options[seed % 4]
        let points = GoldenDataset.points(kind: seed % 2 == 0 ? "c" : "d", count: 160, seed: UInt32(seed))
        let expected = try TestSource(options: options)
        try expected.load(list(points))
        let filter = #"[">",["get","value"],300]"#
        let wanted = try Self.answers(expected) + Self.answers(expected, filter)
        for _ in 0..<4 {
            let test = try TestSource(options: options)
            var order = shuffled(points)
            let first = order.prefix(whole(120) + 20)
            order.removeFirst(first.count)
            try test.load(list(Array(first)))
            // Some are elsewhere at first, some are removed and come back, and some are strangers.
            var stranger = points[0]
            stranger.id = -1 - seed
            _ = try test.update(
                upsert: list(
                    [stranger]
                        + shuffled(Array(first)).prefix(5).map { point in
                            var point = point
                            point.longitude = max(-180, point.longitude - 7)
                            return point
                        }))
            let away = try shuffled(Array(first)).prefix(4).map {
                try #require(FeatureIdentifier(.number(Double($0.id))))
            }
            _ = try test.update(remove: away)
            while !order.isEmpty {
                let batch = Array(order.prefix(whole(40) + 1))
                order.removeFirst(batch.count)
                if whole(3) == 0 {
                    try test.load(list(batch), mode: .append)
                } else {
                    _ = try test.update(upsert: list(batch))
                }
                if whole(4) == 0 { test.source.compact() }
            }
            _ = try test.update(upsert: list(shuffled(Array(first))))
            _ = try test.update(remove: [#require(FeatureIdentifier(.number(Double(stranger.id))))])
            #expect(try Self.answers(test) + Self.answers(test, filter) == wanted)
        }
    }

    @Test("numbers come before strings, these before everything else; equal keys keep input order")
    func types() throws {
        let keys = [
            "null", #""b""#, "3", "-1", #""B""#, "true", #""10""#, "2.5", "[1]", "-0", "0", #""é""#,
            #""bananas and more""#, #""bananas and less""#,
        ]
        let test = try TestSource(options: #"{"sortKey":["get","k"],"radius":0,"maxZoom":0}"#)
        let features = keys.enumerated().map { point($0, Double($0) * 4 - 60, 5, #"{"k":\#($1)}"#) }
        try test.load("[" + features.joined(separator: ",") + "]")
        let view = test.source.revision.view
        let places = (0..<keys.count).map { view.feature(of: PointIndex(rawValue: UInt32($0))) }
        let sorted = places.map { keys[$0] }
        #expect(
            sorted == [
                "-1", "-0", "0", "2.5", "3", #""10""#, #""B""#, #""b""#, #""bananas and less""#, #""bananas and more""#,
                #""é""#, "null", "true", "[1]",
            ])
        for place in keys.indices {
            let point = try #require(view.point(of: place))
            #expect(view.feature(of: point) == place)
        }
    }

    @Test("the feature that sorts first grows the cluster, before and after updates") func capital() throws {
        let test = try TestSource(options: #"{"sortKey":["-",0,["get","population"]]}"#)
        let towns = (1...30).map { point($0, 10 + Double($0) / 1000, 50, #"{"population":\#($0 * 100)}"#) }
        try test.load("[" + towns.joined(separator: ",") + "]")
        func origin() throws -> Int {
            let revision = test.source.revision
            var nodes: [Node] = []
            _ = revision.view.index.nodes(
                west: -180, south: -90, east: 180, north: 90, at: Zoom(rawValue: 0), into: &nodes)
            let node = try #require(nodes.first)
            return revision.view.feature(of: revision.view.index.origin(of: node)) + 1
        }
        #expect(try origin() == 30)
        _ = try test.update(upsert: "[" + point(7, 10.007, 50, #"{"population":9999}"#) + "]")
        #expect(try origin() == 7)
        _ = try test.update(upsert: "[" + point(7, 10.007, 50, #"{"population":1}"#) + "]")
        #expect(try origin() == 30)
        _ = try test.update(upsert: "[" + point(31, 10.0, 50, #"{"population":5000}"#) + "]")
        #expect(try origin() == 31)
        let other = try SourceOptions(reading: JSONReader.parse(#"{"sortKey":["get","population"]}"#))
        _ = try test.source.update(options: other, .never)
        #expect(try origin() == 7)
        _ = try test.source.update(options: SourceOptions(), .never)
        #expect(try origin() == 1)
    }

    @Test("is refused if it gives neither numbers nor strings, and is shown again") func option() throws {
        let options = try SourceOptions(reading: JSONReader.parse(#"{"sortKey":["get","a"]}"#))
        #expect(options.json.text.contains(#""sortKey":["get","a"]"#))
        for text in [#"["literal",[1]]"#, #"["nope"]"#, #"["==",1,2]"#] {
            #expect(throws: SourceError.self) {
                try SourceOptions(reading: JSONReader.parse(#"{"sortKey":\#(text)}"#))
            }
        }
    }
}
