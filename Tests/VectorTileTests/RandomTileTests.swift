// SPDX-License-Identifier: MIT
import JSON
import TestSupport
import Testing

@testable import VectorTile

@Suite("Random vector tiles") struct RandomTileTests {
    /// Always the same numbers, so that a failure can be met again.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state ^ (state >> 29)) &* 0xBF58_476D_1CE4_E5B9
        }
    }

    private func value(_ random: inout Generator) -> (json: String, value: DecodedTile.Value?) {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return ("null", nil)
        case 1: return ("true", .bool(true))
        case 2:
            let number = UInt64.random(in: 0...(1 << 53) >> UInt64.random(in: 0...50, using: &random), using: &random)
            return ("\(number)", .unsigned(number))
        case 3:
            let number = Int64.random(in: -(1 << 40) ... -1, using: &random)
            return ("\(number)", .signed(number))
        case 4:
            let number = Double.random(in: -1e6...1e6, using: &random) + 0.5e-9
            let text = String(javaScript: number)
            return (text, Int64(exactly: number) == nil ? .double(number) : .signed(Int64(number)))
        case 5: return ("[ 1 , 2 ]", .string("[1,2]"))
        default:
            let text =
                ["", "a", "München", "quote\"", "tab\t", "東京", "\\", "x\u{1}"].randomElement(using: &random) ?? ""
            var writer = ByteWriter()
            writer.append(json: text)
            return (writer.string, .string(text))
        }
    }

    private static let longKey = String(repeating: "k", count: 130)

    @Test("encoding and decoding round-trip", arguments: 1...40) func roundTrip(_ seed: UInt64) throws {
        var random = Generator(state: seed)
        var points: [PointInput] = []
        var expected: [DecodedTile.Feature] = []
        for _ in 0..<Int.random(in: 1...120, using: &random) {
            var feature = DecodedTile.Feature(
                id: Bool.random(using: &random) ? UInt64.random(in: 0...(.max), using: &random) : nil,
                x: Int64.random(in: -600...1200, using: &random), y: Int64.random(in: -600...1200, using: &random))
            var members: [String] = []
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let keys = ["a", "b", "name", "größe", "e", "f g", "", "a\\", "a\\\"", "a\"", "na", Self.longKey]
                let key = keys.randomElement(using: &random) ?? ""
                let (json, value) = value(&random)
                var quoted = ByteWriter()
                quoted.append(json: key)
                members.append("\(quoted.string):\(json)")
                feature.tags[key] = value
            }
            expected.append(feature)
            points.append(
                PointInput(x: feature.x, y: feature.y, id: feature.id, json: "{\(members.joined(separator: ","))}"))
        }
        let layer = try #require(try DecodedTile(encode(points)).layers.first)
        #expect(layer.features == expected)
        #expect(Set(layer.values).count == layer.values.count)
        #expect(Set(layer.keys).count == layer.keys.count)
    }
}
