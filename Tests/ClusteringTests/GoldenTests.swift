// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

@testable import Clustering

@Suite("The index gives supercluster's recorded answers")
struct GoldenTests {
    @Test("the nodes of the world at every zoom, and clusters' leaves", arguments: 0..<5, [8, 9])
    func goldens(_ number: Int, _ version: Int) throws {
        let golden = try GoldenCase.load(version: version)[number]
        func option(_ name: String, _ preset: Double) -> Double {
            if case .number(let value)? = golden.options[name] { value } else { preset }
        }
        let options = ClusteringOptions(
            radius: option("radius", 40), extent: option("extent", 512), minimumZoom: Int(option("minZoom", 0)),
            maximumZoom: Int(option("maxZoom", 16)), minimumPoints: Int(option("minPoints", 2)),
            precision: version == 9 ? .fixed : .float)
        let index = try ClusterIndex.build(
            golden.points.map { Position(longitude: $0.longitude, latitude: $0.latitude) }, options)
        var compared = 0
        for query in golden.queries {
            switch (query["q"], query["n"], query["sha1"]) {
            case (.string("world")?, .number(let count)?, .string(let digest)?):
                guard case .number(let zoom)? = query["zoom"] else { continue }
                let seen = index.seen(at: Int(zoom)).sorted { Array($0.utf8).lexicographicallyPrecedes($1.utf8) }
                #expect(Double(seen.count) == count)
                #expect(
                    [seen.joined(separator: "\n"), seen.map { $0 + "\n" }.joined()].map(sha1).contains(
                        digest), "zoom \(zoom)")
                compared += 1
            case (.string("leaves")?, .number(let count)?, _):
                guard case .number(let id)? = query["id"] else { continue }
                let cluster = try #require(index.cluster(id: Int64(id)))
                #expect(Double(index.leaves(of: cluster).count) == count)
                compared += 1
            case (.string("zoom")?, _, _):
                guard case .number(let id)? = query["id"], case .number(let zoom)? = query["expect"] else {
                    continue
                }
                let cluster = try #require(index.cluster(id: Int64(id)))
                #expect(Double(index.expansionZoom(of: cluster).rawValue) == zoom)
                compared += 1
            default: break
            }
        }
        #expect(compared > 100)
    }
}
