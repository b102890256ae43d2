// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

@testable import VectorTile

@Suite("Clusters in vector tiles") struct ClusterTagsTests {
    private struct Cluster {
        var id: Int64
        var count: Int
        var label: String

        var json: String {
            "{\"cluster\":true,\"cluster_id\":\(id),\"point_count\":\(count),\"point_count_abbreviated\":\(label)}"
        }
    }

    /// Points are between the clusters, one with a key of theirs that is written with an escape.
    private func tiles(_ clusters: [Cluster]) -> (direct: [UInt8], fromJSON: [UInt8]) {
        var direct = VectorTileEncoder()
        var fromJSON = VectorTileEncoder()
        direct.begin(layer: "l", extent: 512)
        fromJSON.begin(layer: "l", extent: 512)
        for (place, cluster) in clusters.enumerated() {
            let point = #"{"name":"\#(place % 7)","point_count":\#(place),"clu\u0073ter_id":\#(place % 5),"f":0.5}"#
            Array(point.utf8).withUnsafeBytes { point in
                direct.feature(x: 1, y: 2, id: nil)
                direct.tags(json: point)
                fromJSON.feature(x: 1, y: 2, id: nil)
                fromJSON.tags(json: point)
            }
            let id = UInt64(exactly: cluster.id)
            direct.feature(x: 3, y: 4, id: id)
            Array(cluster.label.utf8).withUnsafeBytes { label in
                direct.clusterTags(id: cluster.id, pointCount: cluster.count, abbreviatedCount: label)
            }
            fromJSON.feature(x: 3, y: 4, id: id)
            Array(cluster.json.utf8).withUnsafeBytes { fromJSON.tags(json: $0) }
        }
        var one = ByteWriter()
        var other = ByteWriter()
        direct.finish(into: &one)
        fromJSON.finish(into: &other)
        return (one.bytes, other.bytes)
    }

    @Test("a cluster's tags are, to the byte, those of its JSON", arguments: [1, 3, 1000])
    func sameBytes(_ count: Int) {
        let clusters = (0..<count).map { place in
            Cluster(
                id: Int64(place * 32 + 5), count: place % 300 + 2,
                label: place % 3 == 0 ? "\"\(place)k\"" : "\(place % 300 + 2)")
        }
        let (direct, fromJSON) = tiles(clusters)
        #expect(direct == fromJSON)
    }

    @Test("ids of clusters that updates made, beyond 2^48, are kept") func largeIds() throws {
        let (direct, fromJSON) = tiles([Cluster(id: 1 << 48 | 77, count: 2, label: "2")])
        #expect(direct == fromJSON)
        let layer = try #require(try DecodedTile(direct).layers.first)
        let id: UInt64 = try #require(layer.features.last?.id)
        #expect(id == 1 << 48 | 77)
    }

    @Test("equal numbers are one value, however many numbers there are") func wholeNumbers() throws {
        let numbers = (0..<3000).map { $0 * 7_919 % 1501 - 700 }
        let points = numbers.map { PointInput(json: "{\"n\":\($0)}") }
        let layer = try #require(try DecodedTile(encode(points)).layers.first)
        #expect(layer.features.count == numbers.count)
        for (feature, number) in zip(layer.features, numbers) {
            #expect(feature.tags["n"] == (number < 0 ? .signed(Int64(number)) : .unsigned(UInt64(number))))
        }
        #expect(layer.values.count == Set(numbers).count)
    }
}
