// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Aggregates
@testable import Responses
@testable import Clustering
@testable import Expressions

@Suite("Median and quantiles") struct QuantileTests {
    /// By definition: the weighted mean of the two numbers beside the place `(n - 1) × q`.
    private func reference(_ numbers: [Double], _ quantile: Double) -> Double? {
        let sorted = numbers.sorted()
        guard !sorted.isEmpty else { return nil }
        let place = Double(sorted.count - 1) * quantile
        let (lower, upper) = (sorted[Int(place)], sorted[min(Int(place) + 1, sorted.count - 1)])
        return lower * (1 - (place - place.rounded(.down))) + upper * (place - place.rounded(.down))
    }

    /// What NumPy's `quantile` gives.
    @Test(
        "all digits are NumPy's",
        arguments: [
            ([1, 2, 4, 8], 0.1, 1.3), ([1, 2, 4, 8], 0.9, 6.800000000000001), ([0.1, 0.2, 0.3], 0.75, 0.25),
            ([3], 0.3, 3), ([1, 2], 1, 2), ([-5, 5], 0.5, 0), ([1, 10, 100], 0, 1),
        ] as [([Double], Double, Double)])
    func numpy(_ numbers: [Double], _ quantile: Double, _ expected: Double) {
        #expect(QuantileColumn.quantile(quantile, of: numbers) == expected)
    }

    /// What NumPy's `median` gives. Its `quantile` gives 1.0499999999999998 for the first.
    @Test(
        "the median of an even count is the mean of the two in the middle",
        arguments: [
            ([0.2, 1.9], 1.05), ([1, 2, 4, 8], 3), ([7], 7), ([1, 2, 4], 2),
        ] as [([Double], Double)])
    func median(_ numbers: [Double], _ expected: Double) {
        #expect(QuantileColumn.median(of: numbers) == expected)
    }

    @Test("numbers at both limits of a double have a median and quantiles") func limits() {
        let limit = Double.greatestFiniteMagnitude
        #expect(QuantileColumn.median(of: [-limit, limit]) == 0)
        #expect(QuantileColumn.median(of: [limit, limit]) == limit)
        #expect(QuantileColumn.median(of: []) == nil)
        for (quantile, expected) in [(0, -limit), (0.5, 0), (1, limit)] {
            #expect(QuantileColumn.quantile(quantile, of: [-limit, limit]) == expected)
        }
    }

    private static let options =
        #"{"maxZoom":8,"clusterProperties":{"half":["median",["get","n"]],"parts":["quantiles",[0.1,0.5,0.9],["get","n"]]}}"#

    private func feature(_ id: Int, _ number: Double?) -> String {
        point(
            id, Double(id * 7919 % 3600) / 10 - 180, Double(id * 104_729 % 1600) / 10 - 80,
            number.map { "{\"n\":\($0)}" } ?? "{}")
    }

    /// Every cluster of every zoom beside the definition over its leaves.
    private func check(_ test: TestSource) throws {
        let revision = test.source.revision
        for zoom in stride(from: 0.0, through: 8, by: 2) {
            let answer = try test.world(zoom)
            for (place, id) in answer.clusterIds.enumerated() {
                let leaves = try test.answer {
                    try $0.writeLeaves(of: id, in: $1, limit: 0, offset: 0, into: &$2, .never)
                }
                let numbers = leaves.features.compactMap { ($0["properties"] as? [String: Any])?["n"] as? Double }
                let properties = try #require(
                    answer.features.filter { ($0["properties"] as? [String: Any])?["cluster"] != nil }[place][
                        "properties"] as? [String: Any])
                let expected = [0.1, 0.5, 0.9].map { reference(numbers, $0) }
                let found = try #require(properties["parts"] as? [Any]).map { $0 as? Double }
                for (found, expected) in zip(found + [properties["half"] as? Double], expected + [expected[1]]) {
                    #expect((found == nil) == (expected == nil))
                    if let found, let expected {
                        #expect(abs(found - expected) <= 1e-9 * max(1, abs(expected)))
                    }
                }
            }
        }
        #expect(revision.view.aggregates.count == 2)
    }

    @Test("clusters have their leaves' quantiles, also after updates and with a filter") func naive() throws {
        let test = try TestSource(options: Self.options)
        let features = (0..<400).map { feature($0, $0 % 9 == 0 ? nil : Double($0 * 31 % 97) / 4) }
        try test.load("[" + features.joined(separator: ",") + "]")
        try check(test)
        _ = try test.update(upsert: list(feature(3, 1000), feature(900, -7), feature(17, nil)))
        try check(test)
        let filtered = try test.world(0, filter: #"[">",["get","n"],20]"#)
        #expect(!filtered.text.contains("\"half\":null"))
    }

    @Test("a restart brings them back") func kept() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create(options: Self.options)
        try source.load("[" + (0..<100).map { feature($0, Double($0)) }.joined(separator: ",") + "]")
        let seen = kept.seen()
        #expect(seen.contains("\"parts\":["))
        try kept.restart()
        #expect(kept.seen() == seen)
    }

    @Test(
        "invalid definitions are rejected, with their position",
        arguments: [
            (#"["quantiles",["get","n"]]"#, ""), (#"["quantiles",[],["get","n"]]"#, "[1]"),
            (#"["quantiles",[0.5,1.5],["get","n"]]"#, "[1][1]"), (#"["quantiles",["x"],["get","n"]]"#, "[1][0]"),
            (#"["quantiles",0.5,["get","n"]]"#, "[1]"), (#"["median",[0.5],["get","n"]]"#, "[0]"),
        ])
    func refused(_ text: String, _ key: String) throws {
        let definition = try JSONReader.parse(text)
        let error = #expect(throws: ExpressionCompileFailure.self) {
            try ClusterProperty(name: "a", compiling: definition)
        }
        #expect(error?.errors.first?.key == key)
    }
}
