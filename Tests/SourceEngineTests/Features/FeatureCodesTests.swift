// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine

@Suite("Ids of clusters by the features that they grew from") struct FeatureCodesTests {
    private static let options = #"{"clusterIds":"origin"}"#

    /// All ids, each with how many points its cluster has and the feature that it grew from.
    private func ids(_ test: TestSource) throws -> [Int64: String] {
        var found: [Int64: String] = [:]
        for zoom in 0...16 {
            for feature in try test.world(Double(zoom)).features {
                guard let properties = feature["properties"] as? [String: Any],
                    let id = properties["cluster_id"] as? Int64, let count = properties["point_count"]
                else { continue }
                #expect(feature["id"] as? Int64 == id)
                found[id] = "\(count)"
            }
        }
        return found
    }

    @Test("every id is unique, finds its cluster, and is the same in another source and after a restart of updates")
    func idsLast() throws {
        let points = GoldenDataset.points(kind: "c", count: 1500, seed: 7)
        let test = try TestSource(options: Self.options)
        try test.load(list(points))
        let view = test.source.revision.view
        let ids = try ids(test)
        #expect(ids.count == view.index.clusterCount)
        #expect(ids.keys.allSatisfy { $0 > 0 && $0 < 1 << 53 })
        for (id, count) in ids {
            let cluster = try test.source.revision.cluster(id, in: view, .never)
            #expect("\(view.index.pointCount(of: cluster))" == count)
        }
        // The same features in two imports, then one of them moved there and back.
        let other = try TestSource(options: Self.options)
        try other.load(list(Array(points.prefix(700))))
        try other.load(list(Array(points.dropFirst(700))), mode: .append)
        #expect(try self.ids(other) == ids)
        var moved = points[100]
        moved.longitude += 20
        _ = try other.update(upsert: list([moved]))
        let changed = try self.ids(other)
        #expect(changed.filter { ids[$0.key] == $0.value }.count > ids.count - 80)
        _ = try other.update(upsert: list([points[100]]))
        #expect(try self.ids(other) == ids)
        other.source.compact()
        #expect(try self.ids(other) == ids)
    }

    @Test("features without ids have the same numbers on any number of threads, and a start of many knows them")
    func anonymous() throws {
        let lines = (0..<66_000).map { "{\"type\":\"Point\",\"coordinates\":[\($0 % 360 - 180),\($0 % 170 - 85)]}" }
        let list =
            "["
            + lines.map { "{\"type\":\"Feature\",\"properties\":null,\"geometry\":\($0)}" }
            .joined(separator: ",") + "]"
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load(list)
        let store = source.revision.store
        let (one, several) = (try FeatureCodes(store, threads: 1, .never), try FeatureCodes(store, threads: 4, .never))
        for row in stride(from: 0, to: store.count, by: 137) {
            let code = one.code(of: row, in: store)
            #expect(several.code(of: row, in: store) == code)
            #expect(several.row(of: code, in: store) == row)
        }
        try kept.restart()
        #expect(try !kept.source().revision.isReadyToName)
        kept.leastWithCodes = 10_000
        try kept.restart()
        try kept.source().load(list)
        try kept.restart()
        let opened = try kept.source().revision
        #expect(opened.isReadyToName, "a snapshot of many features has their numbers")
        #expect(opened.readyFeatureCodes?.code(of: 5000, in: opened.store) == one.code(of: 5000, in: store))
    }

    @Test("an id of a cluster that no longer exists finds nothing") func unknownIds() throws {
        let test = try TestSource(options: Self.options)
        try test.load(list(point(1, 10, 10), point(2, 10.00001, 10), point(3, 80, 10)))
        let id = try #require(try ids(test).keys.first)
        _ = try test.update(remove: [#require(FeatureIdentifier(.number(2)))])
        let view = test.source.revision.view
        for id in [id, 0, -5, .max, .min, id + 1, 17 << 5] {
            #expect(throws: SourceError.clusterNotFound(id)) { try test.source.revision.cluster(id, in: view, .never) }
        }
    }

    @Test("features without ids and with equal ids have ids of their own") func duplicates() throws {
        let test = try TestSource(options: Self.options)
        let features = (0..<400).map { number -> String in
            let (x, y) = (Double(number % 40) * 4 - 80, Double(number / 40 % 5) * 8)
            return point(number % 3 == 0 ? nil : number % 7, x, y)
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        let view = test.source.revision.view
        let codes = try test.source.revision.featureCodes(.never)
        var seen: Set<UInt64> = []
        for place in 0..<400 {
            let code = codes.code(of: place, in: test.source.revision.store)
            #expect(seen.insert(code).inserted)
            #expect(codes.row(of: code, in: test.source.revision.store) == place)
        }
        let ids = try ids(test)
        #expect(ids.count == view.index.clusterCount)
        for id in ids.keys { _ = try test.source.revision.cluster(id, in: view, .never) }
    }

    @Test("numbers of a million ids are all different") func million() {
        var seen: Set<UInt64> = []
        for number in 0..<500_000 {
            for id in [JSONValue.number(Double(number)), .string("n\(number)")] {
                guard let identifier = FeatureIdentifier(id) else { continue }
                seen.insert(identifier.hash(FeatureCodes.key) >> 16)
            }
        }
        #expect(seen.count == 1_000_000)
    }

    @Test("children, leaves, hull and expansion zoom are found by the id, with a filter too") func calls() throws {
        let test = try TestSource(options: Self.options)
        try test.load(list(GoldenDataset.points(kind: "c", count: 300, seed: 3)))
        for filter in [nil, #"[">",["get","value"],300]"#] {
            let id = try #require(test.world(1, filter: filter).clusterIds.first)
            let children = try test.answer(filter) { try $0.writeChildren(of: id, in: $1, into: &$2, .never) }
            #expect(!children.features.isEmpty)
            let leaves = try test.answer(filter) {
                try $0.writeLeaves(of: id, in: $1, limit: 0, offset: 0, into: &$2, .never)
            }
            #expect(leaves.features.count >= 2)
            let hull = try test.answer(filter) { try $0.writeHull(of: id, in: $1, into: &$2, .never) }
            #expect((hull.object["properties"] as? [String: Any])?["cluster_id"] as? Int64 == id)
        }
    }
}
