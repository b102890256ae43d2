// SPDX-License-Identifier: MIT

import ClusterClient
import JSON
import Testing

@testable import Bench

@Suite("Synthetic points") struct SyntheticPointsTests {
    private func text(_ kind: SyntheticPoints.Kind, seed: UInt64, count: Int = 500) -> String {
        var points = SyntheticPoints(kind: kind, seed: seed)
        var writer = ByteWriter()
        writer.append("[")
        for index in 0..<count {
            if index > 0 { writer.append(",") }
            points.write(index, into: &writer)
        }
        writer.append("]")
        return writer.string
    }

    @Test("points are valid features, and the same for the same seed", arguments: SyntheticPoints.Kind.allCases)
    func generatesSamePointsForSameSeed(kind: SyntheticPoints.Kind) throws {
        let text = text(kind, seed: 7)
        #expect(text == self.text(kind, seed: 7))
        #expect(text != self.text(kind, seed: 8))
        let features = try #require(try JSONReader.parse(text).asArray).compactMap(Feature.init)
        #expect(features.count == 500)
        #expect(features.allSatisfy { abs($0.longitude) <= 180 && abs($0.latitude) <= 90 })
        #expect(features.allSatisfy { $0.properties["name"] != nil && $0.properties["score"] != nil })
    }
}
