// SPDX-License-Identifier: MIT
import Testing

@testable import Compression

@Suite("Checksums of blocks") struct BlockChecksumTests {
    private func checksum(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { BlockChecksum.of($0) } }

    @Test("every flipped bit, truncation and swap of words changes it", arguments: [0, 1, 31, 32, 33, 64, 200])
    func differs(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 / 7) }
        var seen: Set<UInt64> = [checksum(bytes)]
        func isNew(_ other: [UInt8]) -> Bool { seen.insert(checksum(other)).inserted }
        for place in 0..<count {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[place] ^= 1 << UInt8(bit)
                #expect(isNew(flipped))
            }
            #expect(isNew(Array(bytes.prefix(place))))
        }
        #expect(isNew(bytes + [0]))
        for place in stride(from: 0, to: count - 63, by: 8) {
            var exchanged = bytes
            for offset in 0..<8 { exchanged.swapAt(place + offset, place + offset + 32) }
            #expect(isNew(exchanged))
        }
        #expect(checksum(bytes) == checksum(bytes))
    }

    @Test("bytes that are added in pieces have the checksum of the whole", arguments: [0, 5, 32, 64, 100, 256, 1000])
    func pieces(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ $0 / 5) }
        for piece in [32, 64, 128] {
            bytes.withUnsafeBytes { bytes in
                var sum = BlockChecksum()
                var place = 0
                while bytes.count - place > piece {
                    sum.add(UnsafeRawBufferPointer(rebasing: bytes[place..<place + piece]))
                    place += piece
                }
                #expect(sum.finish(UnsafeRawBufferPointer(rebasing: bytes[place...])) == checksum(Array(bytes)))
            }
        }
    }

    @Test("zeros of different lengths differ") func zeros() {
        let sums = (0..<300).map { checksum([UInt8](repeating: 0, count: $0)) }
        #expect(Set(sums).count == 300)
    }
}
