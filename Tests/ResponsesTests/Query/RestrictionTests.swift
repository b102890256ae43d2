// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

/// What windows, pins and tops show must equal a count over all features.
@Suite("Restricted views") struct RestrictionTests {
    private struct Feature {
        let id: Int
        let value: Double?
        let longitude: Double
        let latitude: Double
    }

    /// A source with its features, by id.
    private struct World {
        let test: TestSource
        var features: [Int: Feature] = [:]
        var random = SeededRandom(seed: 5)

        init(_ options: String) throws {
            let indexed = #""indexedProperties":{"v":["get","v"],"w":["*",-1,["get","v"]]}}"#
            test = try TestSource(options: options == "{}" ? "{" + indexed : options.dropLast() + "," + indexed)
        }

        mutating func text(_ ids: some Sequence<Int>) -> String {
            let texts = ids.map { id in
                let value =
                    Int.random(in: 0..<6, using: &random) == 0 ? nil : Double(Int.random(in: 0..<20, using: &random))
                let spot = Int.random(in: 0..<30, using: &random)
                let feature = Feature(
                    id: id, value: value, longitude: Double(spot % 6) * 20 + Double.random(in: 0..<3, using: &random),
                    latitude: Double(spot / 6) * 10)
                features[id] = feature
                return point(
                    id, feature.longitude, feature.latitude,
                    "{\"v\":\(value.map { "\($0)" } ?? "null"),\"kind\":\"\(["a", "b"][id % 2])\",\"pinned\":7}")
            }
            return "[" + texts.joined(separator: ",") + "]"
        }

        var revision: Revision { test.source.revision }

        func ask(_ query: ClustersQuery, _ filter: QueryFilter? = nil) throws -> JSONValue {
            let view = try revision.view(filter, zoom: query.zoom, .never)
            var bytes = ByteWriter()
            try revision.writeClusters(query, of: view, into: &bytes, .never)
            return try JSONReader.parse(bytes.bytes)
        }

        /// The ids of the features of an answer's node.
        func members(_ node: JSONValue, _ filter: QueryFilter?, zoom: Double) throws -> Set<Int> {
            guard case .number(let cluster)? = node["properties"]?["cluster_id"] else {
                return [Int(node["id"]?.number ?? -1)]
            }
            let view = try revision.view(filter, zoom: zoom, .never)
            var bytes = ByteWriter()
            try revision.writeLeaves(of: Int64(cluster), in: view, limit: 0, offset: 0, into: &bytes, .never)
            return Set(
                try JSONReader.parse(bytes.bytes)["features"]?.array?.map { Int($0["id"]?.number ?? -1) } ?? [])
        }
    }

    private static func restriction(_ window: (Double?, Double?)?, _ pins: [Int], top: String? = nil) -> ViewRestriction
    {
        var restriction = ViewRestriction()
        restriction.window = window.map { ViewRestriction.Window(property: "v", from: $0.0, to: $0.1) }
        restriction.pins = pins.compactMap { FeatureIdentifier(.number(Double($0))) }
        restriction.top = top.map { _ in ViewRestriction.Ranking(property: "w", order: .ascending) }
        return restriction
    }

    private static func query(_ zoom: Double, _ restriction: ViewRestriction?, limit: Int? = nil) -> ClustersQuery {
        var query = ClustersQuery(box: .world, zoom: zoom, limit: limit)
        query.output.restriction = restriction
        if restriction?.top != nil { query.output.include = [.top, .bounds] }
        return query
    }

    private static func check(
        _ world: World, _ window: (Double?, Double?)?, _ pins: [Int], _ filter: QueryFilter?, _ zoom: Double,
        _ label: String
    ) throws {
        let plain = try world.ask(query(zoom, nil), filter)["features"]?.array ?? []
        let found = try world.ask(query(zoom, restriction(window, pins, top: "w")), filter)["features"]?.array ?? []
        func isInside(_ id: Int) -> Bool {
            guard let window else { return true }
            guard let value = world.features[id]?.value else { return false }
            return value >= window.0 ?? -.infinity && value < window.1 ?? .infinity
        }
        let passing = Set(try plain.flatMap { try world.members($0, filter, zoom: zoom) })
        let pinned = pins.filter { passing.contains($0) && isInside($0) }
        let (marked, others) = (
            found.filter { $0["properties"]?["pinned"] == .bool(true) },
            found.filter { $0["properties"]?["pinned"] != .bool(true) }
        )
        try #require(marked.map { Int($0["id"]?.number ?? -1) } == pinned, "\(label): pinned")
        var expected: [(key: String, count: Int, members: Set<Int>)] = []
        for node in plain {
            let members = try world.members(node, filter, zoom: zoom)
            let left = members.filter { isInside($0) && !pinned.contains($0) }
            if !left.isEmpty { expected.append((node["id"]?.text ?? "", left.count, members)) }
        }
        try #require(others.map { $0["id"]?.text ?? "" } == expected.map(\.key), "\(label): nodes")
        for (node, wanted) in zip(others, expected) {
            guard node["properties"]?["cluster"] == .bool(true) else { continue }
            let properties = node["properties"]
            try #require(properties?["point_count"] == .number(Double(wanted.count)), "\(label): \(node.text)")
            let total: JSONValue? = window == nil ? nil : .number(Double(wanted.members.count))
            try #require(properties?["total_count"] == total, "\(label): \(node.text)")
            try #require(
                (properties?["sum"] != nil) == (window == nil && world.revision.options.clusterProperties.count > 0))
            // The greatest value of v is the least of w.
            let counted = wanted.members.filter { isInside($0) && world.features[$0]?.value != nil }
            let greatest = counted.compactMap { world.features[$0]?.value }.max()
            let top = counted.filter { world.features[$0]?.value == greatest }
            let shown = properties?["top"]?["id"]?.number.map { Int($0) }
            try #require(shown.map { top.contains($0) } ?? top.isEmpty, "\(label): top of \(node.text)")
            let west = wanted.members.filter(isInside).compactMap { world.features[$0]?.longitude }.min()
            try #require(
                properties?["bbox"]?.array?.first == west.map { .number($0) }, "\(label): bbox of \(node.text)")
        }
        let limited = try world.ask(query(zoom, restriction(window, pins), limit: 2), filter)
        try #require(limited["features"]?.array?.count == min(2, found.count), "\(label): limit")
        try #require(limited["truncated"] == .bool(found.count > 2), "\(label): truncated")
    }

    private static let windows: [(Double?, Double?)?] = [nil, (nil, nil), (3, 12), (nil, 5), (18, nil), (7, 7), (9, 2)]

    @Test(
        "show what a count over all features gives, through updates and filters",
        arguments: [
            "{}", #"{"clusterProperties":{"sum":["+",["coalesce",["get","v"],0]]},"sortKey":["id"]}"#,
            #"{"partitionBy":["get","kind"],"minPoints":3}"#, #"{"weight":["+",1,["id"]],"precision":"fixed"}"#,
        ])
    func equalsNaive(_ options: String) throws {
        var world = try World(options)
        try world.test.load(world.text(0..<300))
        let filter = QueryFilter(.array([.string("=="), ["get", "kind"], .string("a")]))
        for round in 0..<3 {
            if round > 0 {
                let removed = (0..<5).map { round * 40 + $0 }
                for id in removed { world.features[id] = nil }
                let text = world.text([round * 7, round * 11, 400 + round])
                _ = try world.test.update(
                    upsert: text, remove: removed.compactMap { FeatureIdentifier(.number(Double($0))) })
            }
            for (number, window) in Self.windows.enumerated() {
                for zoom in [0.0, 2, 17] {
                    for filter in [nil, filter] {
                        let pins = number % 2 == 0 ? [] : [12, 77, 13, 9999]
                        let label =
                            "\(options), round \(round), \(String(describing: window)), zoom \(zoom), \(filter != nil)"
                        try Self.check(world, window, pins, filter, zoom, label)
                    }
                }
            }
        }
    }

    @Test(
        "a change applied to what a watch shows gives the answer, while window and pins move", arguments: [false, true])
    func watched(_ hasTransitions: Bool) throws {
        var world = try World("{}")
        try world.test.load(world.text(0..<200))
        var shown = ShownMarkers(hasTransitions: hasTransitions)
        var markers: [String: String] = [:]
        for step in 0..<24 {
            if step % 5 == 4 { _ = try world.test.update(upsert: world.text([step * 3, 300 + step]), remove: []) }
            let window = Self.windows[step * 5 % Self.windows.count]
            let restriction = Self.restriction(window, step % 3 == 0 ? [5, 6] : [])
            let query = Self.query([0, 3, 3, 17][step / 3 % 4], restriction)
            var bytes = ByteWriter()
            shown = try world.revision.writeChange(
                from: shown, to: query, of: world.revision.view, into: &bytes, .never)
            let change = try JSONReader.parse(bytes.bytes)
            for removed in change["remove"]?.array ?? [] {
                let key = removed["key"]?.string ?? removed.string ?? ""
                #expect(markers.removeValue(forKey: key) != nil, "step \(step): removed what was not there")
            }
            for added in (change["update"]?.array ?? []) + (change["add"]?.array ?? []) {
                guard case .object(var object) = added, let key = added["key"]?.string else { continue }
                (object["key"], object["from"]) = (nil, nil)
                markers[key] = JSONValue.object(object).text
            }
            let answer = try world.ask(query)["features"]?.array ?? []
            #expect(
                markers.values.sorted() == answer.map(\.text).sorted(), "step \(step), \(String(describing: window))")
            var again = ByteWriter()
            shown = try world.revision.writeChange(
                from: shown, to: query, of: world.revision.view, into: &again, .never)
            let nothing = try JSONReader.parse(again.bytes)
            #expect(nothing["add"]?.array?.isEmpty == true && nothing["remove"]?.array?.isEmpty == true, "step \(step)")
        }
    }

    @Test("a pin sends again only what it changes, also the first and the last one", arguments: [false, true])
    func pinned(_ hasTransitions: Bool) throws {
        var world = try World("{}")
        try world.test.load(world.text(0..<200))
        var shown = ShownMarkers(hasTransitions: hasTransitions)
        for (step, pins) in [[], [9_999], [], [5], []].enumerated() {
            var bytes = ByteWriter()
            shown = try world.revision.writeChange(
                from: shown, to: Self.query(3, Self.restriction(nil, pins)), of: world.revision.view, into: &bytes,
                .never)
            let change = try JSONReader.parse(bytes.bytes)
            let sent = (change["add"]?.array?.count ?? 0) + (change["update"]?.array?.count ?? 0)
            // The pinned point, and the cluster that has lost it.
            let most = step == 0 ? .max : pins == [5] ? 2 : step == 4 ? 1 : 0
            #expect(sent <= most, "step \(step): \(change.text.prefix(300))")
        }
    }

    @Test("tiles, leaves, children and hulls count in the window") func otherAnswers() throws {
        var world = try World("{}")
        try world.test.load(world.text(0..<300))
        let (revision, view) = (world.revision, world.revision.view)
        var output = FeatureOutput()
        output.restriction = Self.restriction((4, 11), [3, 8])
        var bytes = ByteWriter()
        let tile = try #require(TileAddress(z: 0, x: 0, y: 0))
        try revision.writeTile(tile, of: view, output: output, into: &bytes, .never)
        let tags = try JSONReader.parse(bytes.bytes)["features"]?.array?.compactMap { $0["tags"] } ?? []
        let answer = try world.ask(Self.query(0, output.restriction))["features"]?.array ?? []
        #expect(tags.map(\.text) == answer.compactMap { $0["properties"]?.text })
        output.restriction = Self.restriction((4, 11), [])
        for node in try world.ask(Self.query(0, output.restriction))["features"]?.array ?? [] {
            guard let id = node["properties"]?["cluster_id"]?.number.map({ Int64($0) }) else { continue }
            let count = node["properties"]?["point_count"]
            let inside = try world.members(node, nil, zoom: 0).filter {
                world.features[$0]?.value.map { $0 >= 4 && $0 < 11 } ?? false
            }
            var leaves = ByteWriter()
            var children = ByteWriter()
            var hull = ByteWriter()
            try revision.writeLeaves(of: id, in: view, limit: 3, offset: 1, output: output, into: &leaves, .never)
            let page = try JSONReader.parse(leaves.bytes)
            #expect(page["total"] == count)
            #expect(page["features"]?.array?.count == min(3, max(0, inside.count - 1)))
            try revision.writeChildren(of: id, in: view, output: output, into: &children, .never)
            let counts = try JSONReader.parse(children.bytes)["features"]?.array?.map {
                $0["properties"]?["point_count"]?.number ?? 1
            }
            #expect(counts?.reduce(0, +) == Double(inside.count))
            try revision.writeHull(of: id, in: view, window: output.restriction?.window, into: &hull, .never)
            #expect(try JSONReader.parse(hull.bytes)["properties"]?["point_count"] == count)
        }
    }
}
