// SPDX-License-Identifier: MIT
import Compression
import TestSupport
import Testing

@testable import TileCompression

@Suite("Tile compressor") struct TileCompressorTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 7 ^ $0 / 300) }
    }

    private static func compressed(
        _ bytes: [UInt8], by compressor: inout TileCompressor, after start: [UInt8] = []
    ) throws -> [UInt8] {
        var output = start
        try compressor.compress(bytes.span, appendingTo: &output)
        return output
    }

    @Test("every size round-trips through one reused compressor", arguments: [-1, 1, 6, 12, 99])
    func roundTrip(_ level: Int) throws {
        var compressor = try TileCompressor(level: level)
        for count in [0, 1, 100, 65_535, 65_536, 300_000] {
            let bytes = Self.bytes(count)
            let compressed = try Self.compressed(bytes, by: &compressor, after: [7])
            #expect(compressed.first == 7)
            #expect(try Zlib.inflate(Array(compressed.dropFirst()), format: .gzip, limit: 1 << 19) == bytes)
        }
    }

    @Test("incompressible bytes grow by only a few bytes") func incompressible() throws {
        var random = SeededRandom(seed: 5)
        let bytes = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var compressor = try TileCompressor()
        let compressed = try Self.compressed(bytes, by: &compressor)
        #expect(compressed.count < bytes.count + 100)
        #expect(try Zlib.inflate(compressed, format: .gzip, limit: 1 << 19) == bytes)
    }

    @Test("equal bytes give equal compressed bytes") func isDeterministic() throws {
        var first = try TileCompressor()
        var second = try TileCompressor()
        let bytes = Self.bytes(5000)
        let output = try Self.compressed(bytes, by: &first)
        #expect(try Self.compressed(bytes, by: &first) == output)
        #expect(try Self.compressed(bytes, by: &second) == output)
    }
}
