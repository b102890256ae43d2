// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import Clustering
import ImageStore
@testable import SourceEngine

/// Whatever happens to a source, its indexed values are those of its features.
@Suite("Indexed values") struct IndexedValuesTests {
    private static let indexed = #""indexedProperties":{"n":["get","n"],"twice":["*",2,["get","n"]]}"#

    /// Compares values, counts and tops with a pass over all features.
    private static func check(_ revision: Revision, _ view: View, _ label: String) throws {
        let points = try revision.points(by: "n", in: view, path: "window", .never)
        let twice = try revision.points(by: "twice", in: view, path: "window", .never)
        let window = PointWindow(points, from: 3, to: 8)
        func number(_ point: PointIndex) -> Double? {
            let text = revision.store.withProperties(view.feature(of: point)) { Array($0) }
            guard case .object(let object)? = try? JSONReader.parse(text), case .number(let number)? = object["n"]
            else {
                return nil
            }
            return number
        }
        for zoom in [0, 4, 17] {
            var nodes: [Node] = []
            _ = view.index.nodes(
                west: -180, south: -90, east: 180, north: 90, at: view.index.level(for: Double(zoom)), into: &nodes)
            for node in nodes {
                let members: [PointIndex] =
                    switch node {
                    case .point(let point): [point]
                    case .cluster(let cluster): Array(view.index.leaves(of: cluster))
                    }
                let numbers = members.map(number)
                if case .point(let point) = node {
                    try #require(points.value(of: point) == number(point), "\(label): value of \(point)")
                    try #require(twice.value(of: point) == number(point).map { 2 * $0 }, "\(label): twice of \(point)")
                }
                let inside = numbers.count { $0.map { $0 >= 3 && $0 < 8 } ?? false }
                try #require(window.count(of: node) == inside, "\(label), zoom \(zoom): \(node)")
                let greatest = points.top(of: node, .descending).flatMap(number)
                try #require(greatest == numbers.compactMap { $0 }.max(), "\(label), zoom \(zoom): top of \(node)")
            }
        }
    }

    private static func check(_ kept: KeptSources, _ label: String) throws {
        let revision = try kept.source().revision
        try check(revision, revision.view, label)
        let filter = QueryFilter(.array([.string("!="), ["get", "kind"], .string("bar")]))
        try check(revision, try revision.view(filter, zoom: nil, .never), "\(label), filter")
    }

    /// Towns whose numbers change with the round, some of them without any.
    private static func features(_ ids: [Int], _ round: Int) -> String {
        let points = ids.map { id in
            let value = (id + round) % 5 == 0 ? "null" : "\((id * 7 + round * 3) % 13)"
            let shift = id % 3 == 0 ? Double(round % 4) : 0
            return point(
                id, Double(id * 37 % 50) * 3 + shift, Double(id * 13 % 40),
                "{\"n\":\(value),\"kind\":\"\(["bar", "pub"][id % 2])\"}")
        }
        return "[" + points.joined(separator: ",") + "]"
    }

    @Test(
        "equal those of the features through updates, compaction, restarts and filters",
        arguments: [
            #"{\#(indexed)}"#,
            #"{"sortKey":["-",0,["get","n"]],"clusterIds":"origin",\#(indexed)}"#,
            #"{"clusterProperties":{"n":["+",["get","n"]]},"weight":["+",1,["coalesce",["get","n"],1]],\#(indexed)}"#,
            #"{"partitionBy":["get","kind"],"minPoints":3,\#(indexed)}"#,
            #"{"precision":"double","filter":["!=",["get","n"],12],\#(indexed)}"#,
        ], [true, false])
    func followed(_ options: String, _ isOnDemand: Bool) throws {
        let kept = try KeptSources(longestClustering: 0, isQuick: true, isOnDemand: isOnDemand)
        try kept.create(options: options).load(Self.features(Array(0..<400), 0))
        try Self.check(kept, "loaded")
        for round in 1...4 {
            for step in 0..<5 {
                let first = (round * 83 + step * 31) % 380
                try kept.source().change(
                    // Some only get another number, some move, some are new.
                    upsert: Self.features([first, first + 1, first + 2, 400 + round * 10 + step], round),
                    remove: [.number(Double(first + 3))])
                if step == 2 { kept.wait() }
            }
            try Self.check(kept, "round \(round)")
            try kept.restart()
            #expect(kept.reports.isEmpty, "round \(round): \(kept.reports)")
            try Self.check(kept, "round \(round), restarted")
            if round == 2 {
                try kept.source().load(Self.features(Array(900..<950), round), mode: .append)
                try Self.check(kept, "appended")
            }
        }
        let source = try kept.source()
        source.compact()
        try Self.check(kept, "compacted")
        try kept.restart()
        try Self.check(kept, "compacted and restarted")
    }

    @Test("a number of each feature that is not finite, or no number, is missing") func missing() throws {
        let kept = try KeptSources(isQuick: true)
        try kept.create(options: #"{"indexedProperties":{"a":["get","a"],"ratio":["/",["get","a"],["get","b"]]}}"#)
            .load(
                "["
                    + [#"{"a":1,"b":0}"#, #"{"a":"7","b":1}"#, #"{"b":1}"#, #"{"a":6,"b":4}"#, #"{"a":-0.0,"b":1}"#]
                    .enumerated().map { point($0, Double($0), 0, $1) }.joined(separator: ",") + "]")
        let revision = try kept.source().revision
        let values = try ["a", "ratio"].map { name in
            let points = try revision.points(by: name, in: revision.view, path: "by", .never)
            return (0..<5).map { points.value(of: PointIndex(rawValue: $0)) }
        }
        #expect(values == [[1, nil, nil, 6, 0], [nil, nil, nil, 1.5, 0]])
        #expect(
            throws: SourceError.invalidParameter(
                path: "by", message: "'c' is not an indexed property; these are a, ratio")
        ) { try revision.points(by: "c", in: revision.view, path: "by", .never) }
    }

    @Test("an update of other properties leaves clusters as they are") func unchanged() throws {
        let kept = try KeptSources(isQuick: true)
        try kept.create(options: "{\(Self.indexed)}").load(towns(200))
        let before = try kept.source().revision.view.index.clusterCount
        try kept.source().change(upsert: "[\(point(37, 100, 1, "{\"n\":4,\"kind\":\"new\"}"))]")
        let delta = try kept.source().revision.view.index.deltaSize
        let text = try kept.source().revision.store.withProperties(38) { String(decoding: Array($0), as: UTF8.self) }
        try kept.source().change(
            upsert:
                "[{\"type\":\"Feature\",\"id\":38,\"geometry\":\(geometry(of: 38, kept)),\"properties\":\(text.replacing("kind", with: "sort"))}]"
        )
        #expect(try kept.source().revision.view.index.deltaSize == delta)
        #expect(before > 0)
    }

    private func geometry(of row: Int, _ kept: KeptSources) throws -> String {
        let (longitude, latitude) = try kept.source().revision.store.coordinates(row)
        return "{\"type\":\"Point\",\"coordinates\":[\(longitude),\(latitude)]}"
    }

    @Test("a wrong option is refused and named") func options() {
        let wrong = [
            #"{"indexedProperties":{"1a":["get","a"]}}"#: "options.indexedProperties.1a",
            #"{"indexedProperties":[1]}"#: "options.indexedProperties",
            #"{"indexedProperties":{"a":["nope"]}}"#: "options.indexedProperties.a",
            "{\"indexedProperties\":{\((0..<9).map { "\"p\($0)\":1" }.joined(separator: ","))}}":
                "options.indexedProperties",
        ]
        for (options, path) in wrong {
            let error = #expect(throws: SourceError.self) { try SourceOptions(reading: JSONReader.parse(options)) }
            #expect(error?.description.contains(path) == true, "\(options): \(String(describing: error))")
        }
    }

    @Test("damage of their sections is noticed") func damage() throws {
        let kept = try KeptSources(isQuick: true)
        try kept.create(options: "{\(Self.indexed)}").load(towns(500))
        kept.wait()
        let url = URL(fileURLWithPath: kept.file("2.snapshot"))
        let intact = try Data(contentsOf: url)
        let opened = try OpenedSections(url.path)
        for number in [UInt32(0x2000), 0x2001, 0x2002, 0x2004, 0x2005] {
            let range = try #require(opened.sections[number], "section \(number) is not in the file")
            var damaged = intact
            damaged[range.lowerBound + range.count / 2] ^= 0x10
            try kept.restart { try damaged.write(to: url) }
            #expect(!kept.reports.isEmpty, "damage of section \(number) was not reported")
            try kept.restart { try intact.write(to: url) }
        }
    }
}
