// SPDX-License-Identifier: MIT
import Testing

@testable import Compression

@Suite("Gzip without compression")
struct StoredGzipTests {
    @Test("every size round-trips", arguments: [0, 1, 2, 22, 23, 255, 256, 1000, 65_534, 65_535])
    func roundTrip(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var output: [UInt8] = [7]
        StoredGzip.append(bytes.span, to: &output)
        #expect(output.count == 1 + count + 23)
        #expect(try Zlib.inflate(Array(output.dropFirst()), format: .gzip, limit: 1 << 17) == bytes)
    }

    @Test("accepts at most one block") func limit() throws {
        let bytes = [UInt8](repeating: 5, count: StoredGzip.mostBytes + 1)
        var output: [UInt8] = []
        StoredGzip.append(bytes.span, to: &output)
        #expect(try Zlib.inflate(output, format: .gzip, limit: 1 << 17).count == StoredGzip.mostBytes)
    }
}
