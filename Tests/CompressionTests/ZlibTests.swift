// SPDX-License-Identifier: MIT
import Testing

@testable import Compression

@Suite("Compression") struct ZlibTests {
    static let texts: [[UInt8]] = [
        [], [0], Array("hello hello hello".utf8), (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) },
        Array(repeating: 7, count: 1_000_000),
    ]

    @Test("deflating and inflating round-trips", arguments: texts.indices, [1, 6, 9])
    func roundTrip(_ text: Int, _ level: Int) throws {
        let bytes = Self.texts[text]
        #expect(try Zlib.inflate(Zlib.deflate(bytes, level: level), limit: bytes.count) == bytes)
    }

    @Test("a compression bomb costs at most the limit") func bomb() throws {
        let bomb = try Zlib.deflate(Array(repeating: 0, count: 10_000_000), level: 9)
        #expect(throws: CompressionError.limitExceeded(1000)) { _ = try Zlib.inflate(bomb, limit: 1000) }
    }

    @Test("truncated, damaged and extended streams are rejected") func damaged() throws {
        let good = try Zlib.deflate(Array("some text, some more text".utf8))
        for length in good.indices {
            #expect(throws: CompressionError.self) { _ = try Zlib.inflate(Array(good[..<length]), limit: 1000) }
        }
        for index in good.indices {
            var bad = good
            bad[index] ^= 0x5A
            #expect(throws: CompressionError.self) { _ = try Zlib.inflate(bad, limit: 1000) }
        }
        #expect(throws: CompressionError.self) { _ = try Zlib.inflate(good + [0], limit: 1000) }
        #expect(throws: CompressionError.self) { _ = try Zlib.inflate([1, 2, 3], format: .gzip, limit: 10) }
    }

    @Test("consecutive gzip members are one content, however the bytes are split") func gzip() throws {
        // "hi\n" and "ho\n", as gzip -n writes them.
        let member1: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 203, 200, 228, 2, 0, 122, 122, 111, 237, 3, 0, 0, 0]
        let both = member1 + member1
        #expect(try Zlib.inflate(both, format: .gzip, limit: 100) == Array("hi\nhi\n".utf8))
        for cut in 0...both.count {
            var stream = try InflateStream(format: .gzip)
            var content: [UInt8] = []
            for piece in [both[..<cut], both[cut...]] {
                var output = [UInt8](repeating: 0, count: 64)
                let written = try stream.inflate(piece.span, into: &output).written
                content += output[..<written]
            }
            #expect(content == Array("hi\nhi\n".utf8))
            let isFinished = stream.isFinished
            #expect(isFinished)
        }
    }

    @Test("CRC-32 of the standard's check string") func crc() {
        let check = Array("123456789".utf8)
        #expect(check.withUnsafeBytes { Zlib.crc32($0) } == 0xCBF4_3926)
        let half = check[..<4].withUnsafeBytes { Zlib.crc32($0) }
        #expect(check[4...].withUnsafeBytes { Zlib.crc32($0, from: half) } == 0xCBF4_3926)
    }
}
