// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("SipHash") struct SipHashTests {
    private let key = SipHash(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)

    /// SipHash-1-3 of the bytes 0, 1, 2 … with the key 0, 1, 2 … 15; the first is in the reference
    /// implementation's list.
    @Test(
        "hashes equal the reference's",
        arguments: [
            (0, 0xabac_0158_050f_c4dc),
            (1, 0xc9f4_9bf3_7d57_ca93),
            (7, 0xd392_7d98_9bb1_1140),
            (8, 0x3690_9511_8d29_9a8e),
            (63, 0x9d19_9062_b7bb_b3a8),
        ] as [(Int, UInt64)])
    func reference(_ count: Int, _ expected: UInt64) {
        let bytes = (0..<count).map { UInt8($0) }
        let hash = key.hash(bytes.span.bytes)
        #expect(hash == expected)
    }

    /// SipHash-2-4 of the same bytes with the same key; these are in the reference implementation's list.
    @Test(
        "strong hashes equal the reference's",
        arguments: [
            (0, 0x726f_db47_dd0e_0e31),
            (1, 0x74f8_39c5_93dc_67fd),
            (7, 0xab02_00f5_8b01_d137),
            (8, 0x93f5_f579_9a93_2462),
            (15, 0xa129_ca61_49be_45e5),
            (63, 0x958a_324c_eb06_4572),
        ] as [(Int, UInt64)])
    func strongReference(_ count: Int, _ expected: UInt64) {
        let bytes = (0..<count).map { UInt8($0) }
        let hash = key.strongHash(bytes.span.bytes)
        #expect(hash == expected)
    }

    @Test("another key gives other hashes, the same key the same") func keys() {
        let bytes = Array("some id".utf8)
        let hashes = [key, SipHash(1, 2), key].map { $0.hash(bytes.span.bytes) }
        #expect(hashes[0] == hashes[2] && hashes[0] != hashes[1])
        #expect(SipHash(key: key.key) == key)
        #expect(SipHash(key: [1]) == nil)
        #expect(SipHash.random() != SipHash.random())
    }

    @Test("texts of all lengths differ in their hashes") func lengths() {
        var seen: Set<UInt64> = []
        for count in 0..<200 {
            let bytes = [UInt8](repeating: 0, count: count)
            seen.insert(key.hash(bytes.span.bytes))
        }
        #expect(seen.count == 200)
    }
}
