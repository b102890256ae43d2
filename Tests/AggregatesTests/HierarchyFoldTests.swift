// SPDX-License-Identifier: MIT
import Clustering
import SourceTestSupport
import ImageStore
import Testing

@testable import Aggregates
@testable import Responses
@testable import SourceEngine

@Suite("Hierarchy fold") struct HierarchyFoldTests {
    private static let options = """
        {"maxZoom":9,"clusterProperties":{"sum":["+",["get","v"]],"product":["*",["get","p"]],
        "greatest":["max",["get","w"]],"least":["min",["get","w"]],"named":["distinct",["get","w"]],
        "from":["+",1000,["get","w"]],"threes":["+",["case",["==",["get","w"],3],1,0]],"any":["any",["==",["get","w"],3]]}}
        """

    /// Small whole numbers and halves, whose sums and products are exact whatever their order.
    private struct Values {
        /// Null for one in a thousand.
        var v: Double?
        var p: Double
        var w: Double
    }

    @Test("several properties folded together equal those folded one by one")
    func manyPropertiesFoldAsOneByOne() throws {
        var state: UInt64 = 9
        func random(_ limit: UInt64) -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double((state >> 33) % limit)
        }
        let values = (0..<40_000).map { _ in
            Values(
                v: random(1000) == 0 ? nil : random(1000), p: random(40) == 0 ? 2 : random(2) == 0 ? 1 : -1,
                w: random(500))
        }
        let features = values.enumerated().map { place, values in
            let v = values.v.map { String($0) } ?? "null"
            return point(
                place, random(36_000_000) / 100_000 - 180, random(16_000_000) / 100_000 - 80,
                "{\"v\":\(v),\"w\":\(values.w),\"p\":\(values.p)}")
        }
        let test = try TestSource(options: Self.options)
        try test.load("[" + features.joined(separator: ",") + "]")
        let view = test.source.revision.view
        #expect(
            view.aggregates.map(\.name) == ["sum", "product", "greatest", "least", "named", "from", "threes", "any"])
        var numbers: [String: [Double]] = [:]
        for aggregate in view.aggregates {
            if let column = aggregate.column as? ValueColumn<Double> {
                numbers[aggregate.name] = column.values.built.withValues { Array($0) }
            }
        }
        #expect(numbers.count == 6)
        var failures = 0
        for cluster in 0..<view.index.clusterCount {
            let rows = view.index.leaves(of: ClusterOrdinal(rawValue: UInt32(cluster))).map { values[Int($0.rawValue)] }
            let sums = rows.map(\.v)
            let sum = numbers["sum"]?[cluster] ?? -1
            if sums.contains(nil) {
                // From the first child that is null on, or else from the second, every step fails.
                let children = view.index.children(of: ClusterOrdinal(rawValue: UInt32(cluster)))
                let first = children.firstIndex { child in
                    switch child {
                    case .point(let point): values[Int(point.rawValue)].v == nil
                    case .cluster(let inner): numbers["sum"]?[Int(inner.rawValue)].isNaN ?? false
                    }
                }
                failures += children.count - max(1, first ?? children.count)
                #expect(sum.isNaN)
            } else {
                #expect(sum == sums.reduce(0) { $0 + ($1 ?? 0) })
            }
            #expect(numbers["product"]?[cluster] == rows.reduce(1) { $0 * $1.p })
            #expect(numbers["greatest"]?[cluster] == rows.map(\.w).max())
            #expect(numbers["least"]?[cluster] == rows.map(\.w).min())
            #expect(numbers["from"]?[cluster] == rows.reduce(1000) { $0 + $1.w })
            #expect(numbers["threes"]?[cluster] == Double(rows.filter { $0.w == 3 }.count))
        }
        #expect(
            view.propertyErrors == [
                PropertyError(message: "Expected value to be of type number, but found null instead.", count: failures)
            ])
    }
}
