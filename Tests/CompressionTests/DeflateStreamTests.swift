// SPDX-License-Identifier: MIT
import Testing

@testable import Compression

@Suite("Compressing buffers") struct DeflateStreamTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 7 ^ $0 / 300) }
    }

    @Test("every size round-trips through one reused stream", arguments: [InflateStream.Format.zlib, .gzip])
    func roundTrip(_ format: InflateStream.Format) throws {
        var stream = try DeflateStream(format: format)
        for count in [0, 1, 100, 65_536, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1_000_000] {
            let bytes = Self.bytes(count)
            var compressed: [UInt8] = [7]
            let isWhole = try stream.compress(bytes.span, appendingTo: &compressed)
            #expect(isWhole)
            #expect(compressed.first == 7)
            let again = try Zlib.inflate(Array(compressed.dropFirst()), format: format, limit: 1 << 21)
            #expect(again == bytes)
        }
    }

    @Test("equal bytes give equal compressed bytes") func isDeterministic() throws {
        var first = try DeflateStream(format: .gzip)
        var second = try DeflateStream(format: .gzip)
        let bytes = Self.bytes(5000)
        var outputs: [[UInt8]] = [[], [], []]
        _ = try first.compress(bytes.span, appendingTo: &outputs[0])
        _ = try first.compress(bytes.span, appendingTo: &outputs[1])
        _ = try second.compress(bytes.span, appendingTo: &outputs[2])
        #expect(outputs[0] == outputs[1] && outputs[0] == outputs[2])
    }

    @Test("a cancelled compression of many bytes stops between its pieces") func cancellation() throws {
        var stream = try DeflateStream(format: .gzip)
        let bytes = Self.bytes(1 << 20)
        var output: [UInt8] = []
        var asked = 0
        let isWhole = try stream.compress(bytes.span, appendingTo: &output) {
            asked += 1
            return asked == 2
        }
        #expect(!isWhole)
        #expect(asked == 2)
    }
}
