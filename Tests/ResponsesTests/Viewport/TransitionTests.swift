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
@testable import SystemSupport

@Suite("Transitions: markers known by the feature that they grew from") struct TransitionTests {
    /// A client that applies items, and knows which features each of its markers contains.
    private struct Watcher {
        let test: TestSource
        var query: ClustersQuery
        var filter: String?
        var shown = ShownMarkers(hasTransitions: true)
        var features: [String: NSDictionary] = [:]
        var members: [String: Set<String>] = [:]
        /// By key: the feature that it is the key of.
        var origins: [String: String] = [:]
        var item = [String: Any]()

        init(_ test: TestSource, _ query: ClustersQuery, filter: String? = nil) {
            (self.test, self.query, self.filter) = (test, query, filter)
        }

        func list(_ name: String) -> [[String: Any]] { item[name] as? [[String: Any]] ?? [] }

        private static func stripped(_ feature: [String: Any]) -> NSDictionary {
            var feature = feature
            feature["key"] = nil
            feature["from"] = nil
            return feature as NSDictionary
        }

        /// Takes the next item, applies it, and checks all that it says.
        mutating func look() throws {
            let revision = test.source.revision
            let queryFilter = try filter.map { QueryFilter(try JSONReader.parse($0)) }
            let view = try revision.view(queryFilter, zoom: query.zoom, .never)
            var bytes = ByteWriter()
            shown = try revision.writeChange(from: shown, to: query, of: view, into: &bytes, .never)
            item = try Answer(bytes.string).object
            let (before, beforeMembers) = (features, members)
            for removed in list("remove") {
                let key = try #require(removed["key"] as? String)
                #expect(features.removeValue(forKey: key) != nil)
            }
            for update in list("update") {
                let key = try #require(update["key"] as? String)
                #expect(update["from"] == nil)
                #expect(features[key] != nil)
                #expect(features[key] != Self.stripped(update))
                features[key] = Self.stripped(update)
            }
            for added in list("add") {
                let key = try #require(added["key"] as? String)
                #expect(before[key] == nil)
                features[key] = Self.stripped(added)
            }
            try checkAnswer(filter)
            try readMembers(view, revision)
            for added in list("add") {
                guard let from = added["from"] as? String, let key = added["key"] as? String else { continue }
                #expect(before[from] != nil)
                #expect(beforeMembers[from]?.contains(origins[key] ?? "?") == true, "from")
            }
            for removed in list("remove") {
                guard let into = removed["into"] as? String, let key = removed["key"] as? String else {
                    continue
                }
                #expect(features[into] != nil)
                #expect(members[into]?.contains(origins[key] ?? "?") == true, "into")
            }
        }

        private func checkAnswer(_ filter: String?) throws {
            var keyed = query
            keyed.output.include.insert(.key)
            let answer = try test.clusters(keyed, filter: filter)
            var wanted: [String: NSDictionary] = [:]
            for feature in answer.features {
                wanted[try #require(feature["key"] as? String)] = Self.stripped(feature)
            }
            #expect(wanted.count == answer.features.count)
            #expect(wanted == features)
            let changed = list("add").count + list("update").count
            #expect(item["keep"] as? Int == answer.features.count - changed)
        }

        /// Reads which features each marker contains, by their ids.
        private mutating func readMembers(_ view: View, _ revision: Revision) throws {
            members = [:]
            for row in shown.rows {
                var key = ByteWriter()
                MarkerWriter.write(key: row.key, into: &key)
                let name = String(key.string.dropFirst().dropLast())
                func id(_ point: PointIndex) -> String {
                    revision.store.featureIdentifier(view.feature(of: point))?.description ?? "none"
                }
                origins[name] = id(view.index.origin(of: row.node))
                switch row.node {
                case .point(let point): members[name] = [id(point)]
                case .cluster(let cluster): members[name] = Set(view.index.leaves(of: cluster).map { id($0) })
                }
            }
        }
    }

    private static let options = [
        "{}", #"{"clusterIds":"origin","maxZoom":9}"#,
        #"{"clusterProperties":{"sum":["+",["get","value"]]},"minPoints":3,"maxZoom":8}"#,
    ]

    @Test("replaying items gives the answers of GetClusters, and from and into contain the origins", arguments: 0..<6)
    func replay(_ seed: Int) throws {
        var random = PythonRandom(seed: UInt32(seed + 300))
        let test = try TestSource(options: Self.options[seed % 3])
        let points = GoldenDataset.points(kind: seed % 2 == 0 ? "c" : "d", count: 300, seed: UInt32(seed))
        try test.load(list(points))
        var limited = ClustersQuery(box: .world, zoom: 3)
        limited.limit = 15
        var watchers = [
            Watcher(test, ClustersQuery(box: .world, zoom: 2)), Watcher(test, limited),
            Watcher(test, ClustersQuery(box: .world, zoom: 4), filter: #"[">",["get","value"],200]"#),
        ]
        for step in 0..<40 {
            if step % 3 == 1 {
                var point = points[Int(random.random() * 299)]
                switch step % 5 {
                case 0: _ = try test.update(remove: [#require(FeatureIdentifier(.number(Double(point.id))))])
                case 1:
                    point.id += 1000 + step
                    _ = try test.update(upsert: list([point]))
                case 2: test.source.compact()
                case 3:
                    point.longitude = max(-180, point.longitude - 3)
                    _ = try test.update(upsert: list([point]))
                default: try test.load(list(points), mode: .replace)
                }
            }
            for place in watchers.indices where random.random() < 0.7 {
                let (x, y) = (random.uniform(-180, 150), random.uniform(-80, 60))
                let side = random.uniform(10, 300)
                watchers[place].query.box = Box(west: x, south: y, east: x + side, north: min(90, y + side / 2))
                watchers[place].query.zoom = random.uniform(0, 12)
                try watchers[place].look()
            }
        }
    }

    @Test("zooming in keeps all markers, and zooming out adds none") func zooms() throws {
        let test = try TestSource(options: #"{"clusterIds":"origin"}"#)
        try test.load(list(GoldenDataset.points(kind: "c", count: 1000, seed: 21)))
        var watcher = Watcher(test, ClustersQuery(box: .world, zoom: 0))
        try watcher.look()
        for zoom in 1...17 {
            watcher.query.zoom = Double(zoom)
            try watcher.look()
            #expect(watcher.list("remove").isEmpty)
            #expect(watcher.list("add").allSatisfy { $0["from"] is String })
        }
        for zoom in stride(from: 16, through: 0, by: -1) {
            watcher.query.zoom = Double(zoom)
            try watcher.look()
            #expect(watcher.list("add").isEmpty)
            #expect(watcher.list("remove").allSatisfy { $0["into"] is String })
        }
    }

    @Test("features without ids and with equal ids keep keys of their own") func duplicates() throws {
        let test = try TestSource()
        let features = (0..<90).map { number -> String in
            let (x, y) = (Double(number % 30) * 5 - 70, Double(number / 30) * 9)
            return point(number % 3 == 0 ? nil : number % 5, x, y)
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        var watcher = Watcher(test, ClustersQuery(box: .world, zoom: 17))
        for zoom in [17, 4, 2, 0, 3, 17] {
            watcher.query.zoom = Double(zoom)
            try watcher.look()
            #expect(watcher.features.count == watcher.shown.count)
        }
    }

    /// How many markers come from another one when an import removes a third of the features, and how many go into
    /// another one when the next brings them back.
    private func moves(withIds: Bool) throws -> (from: Int, into: Int) {
        let points = GoldenDataset.points(kind: "c", count: 900, seed: 5)
        func text(_ points: [GoldenPoint]) -> String {
            let features = points.map {
                point(withIds ? $0.id : nil, $0.longitude, $0.latitude, #"{"n":\#($0.id)}"#)
            }
            return "[" + features.joined(separator: ",") + "]"
        }
        let test = try TestSource()
        try test.load(text(points))
        var watcher = Watcher(test, ClustersQuery(box: .world, zoom: 3))
        try watcher.look()
        try test.load(text(points.enumerated().filter { $0.offset % 3 > 0 }.map(\.element)))
        try watcher.look()
        let from = watcher.list("add").count { $0["from"] is String }
        try test.load(text(points))
        try watcher.look()
        return (from, watcher.list("remove").count { $0["into"] is String })
    }

    @Test("features without ids are known by their text after an import") func withoutIds() throws {
        let (known, found) = (try moves(withIds: true), try moves(withIds: false))
        #expect(known.from > 0)
        #expect(known.into > 0)
        #expect(found.from == known.from)
        #expect(found.into == known.into)
    }

    @Test("keys of features that differ only in a member of that name are different") func memberKey() throws {
        let test = try TestSource()
        let features = [1, 2].map {
            #"{"type":"Feature","key":\#($0),"geometry":{"type":"Point","coordinates":[1,2]},"properties":null}"#
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        let answer = try test.world(17, FeatureOutput(include: [.key]))
        #expect(Set(answer.features.compactMap { $0["key"] as? String }).count == 2)
    }

    @Test(
        "keys and ids of clusters depend on an id's value, not on its spelling",
        arguments: [
            (#""é""#, #""\u00e9""#), ("1", "1.0"), ("1", "10e-1"), (#""a/b""#, #""a\/b""#), ("1.50", "15e-1"),
            ("-0", "0"), (#""\ud83d\ude00""#, #""😀""#),
        ])
    func spelling(_ one: String, _ other: String) throws {
        func features(_ id: String) -> String {
            let places = [(id, 10.0), ("7", 10.001), ("8", 60)]
            let texts = places.map {
                #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[\#($1),10]},"properties":null}"#
            }
            return "[" + texts.joined(separator: ",") + "]"
        }
        func look(_ test: TestSource) throws -> Set<String> {
            var found: Set<String> = []
            for zoom in [0.0, 17] {
                for feature in try test.world(zoom, FeatureOutput(include: [.key])).features {
                    found.insert("\(feature["key"] ?? "")")
                    if feature["properties"] is [String: Any] { found.insert("id \(feature["id"] ?? "")") }
                }
            }
            return found
        }
        func seen(_ id: String) throws -> Set<String> {
            let test = try TestSource(options: #"{"clusterIds":"origin"}"#)
            try test.load(features(id))
            return try look(test)
        }
        #expect(try seen(one) == seen(other))
        // An update that spells the id differently replaces the feature, its marker stays, and it is removed by either
        // spelling.
        let test = try TestSource(options: #"{"clusterIds":"origin"}"#)
        try test.load(features(one))
        let before = try look(test)
        _ = try test.update(upsert: features(other))
        #expect(test.source.revision.pointCount == 3)
        #expect(try look(test) == before)
        let identifier = Array(one.utf8).withUnsafeBytes { FeatureIdentifier(json: $0) }
        _ = try test.update(remove: [#require(identifier)])
        #expect(test.source.revision.pointCount == 2)
    }

    @Test("tiles carry the keys: as a member in JSON, as an attribute in vector tiles") func tiles() throws {
        let test = try TestSource()
        let bare =
            #"{"type":"Feature","id":4,"geometry":{"type":"Point","coordinates":[-90,10]},"properties":null}"#
        try test.load(
            list(point(1, 10, 10), point(2, 10.001, 10), point(3, 90, 10, #"{"a":1}"#), bare))
        let output = FeatureOutput(include: [.key])
        let keys = Set(try test.world(0, output).features.compactMap { $0["key"] as? String })
        #expect(keys.count == 3)
        let tile = try #require(TileAddress(z: 0, x: 0, y: 0))
        let json = try test.answer { try $0.writeTile(tile, of: $1, output: output, into: &$2, .never) }
        #expect(Set(json.features.compactMap { $0["key"] as? String }) == keys)
        var tagged: Set<String> = []
        let revision = test.source.revision
        try revision.eachTileFeature(tile, of: revision.view, output: output, .never) { feature in
            guard case .other(_, let tags) = feature.content,
                let value = try? JSONReader.parse(tags), case .object(let object) = value,
                case .string(let key)? = object["key"]
            else { return }
            tagged.insert(key)
        }
        #expect(tagged == keys)
    }

    @Test("an item has no more members than the protocol says") func item() throws {
        let test = try TestSource()
        try test.load(list(point(1, 10, 10), point(2, 10.001, 10), point(3, 90, 10)))
        var watcher = Watcher(test, ClustersQuery(box: .world, zoom: 17))
        try watcher.look()
        #expect(Set(watcher.item.keys) == ["add", "update", "remove", "keep", "revision"])
        #expect(watcher.list("add").count == 3)
        watcher.query.zoom = 0
        try watcher.look()
        #expect(watcher.list("update").count == 1)
        #expect(watcher.list("remove").count == 1)
        let update = try #require(watcher.list("update").first)
        #expect(watcher.list("remove").first?["into"] as? String == update["key"] as? String)
        #expect(watcher.item["keep"] as? Int == 1)
    }
}

@Suite("Offsets of coincident points")
struct SpiderOffsetsTests {
    @Test("no two positions are closer than a marker's width", arguments: 2...60)
    func distances(_ count: Int) {
        let offsets = SpiderOffsets.offsets(of: count)
        #expect(offsets.count == count)
        for (place, a) in offsets.enumerated() {
            for b in offsets[(place + 1)...] {
                let (dx, dy) = (a.x - b.x, a.y - b.y)
                #expect((dx * dx + dy * dy).squareRoot() > 22)
            }
        }
        if count <= 8 {
            let radii = offsets.map { ($0.x * $0.x + $0.y * $0.y).squareRoot() }
            #expect((radii.max() ?? 0) - (radii.min() ?? 0) < 0.2)
        }
    }

    @Test("clusters of up to 60 coincident points have offsets, and others do not") func answers() throws {
        let test = try TestSource()
        let same = (0..<70).map { point($0, 10, 10) }
        try test.load("[" + (same + [point(100, 60, 10), point(101, 60.01, 10)]).joined(separator: ",") + "]")
        let answer = try test.world(3, FeatureOutput(include: [.spider]))
        let spiders = answer.features.indices.compactMap { answer.properties($0)["spider"] as? [[Double]] }
        #expect(spiders.map(\.count) == [60])
        #expect(answer.features.count == 2)
    }
}
