// SPDX-License-Identifier: MIT
import Sources
import SystemSupport

/// Sixty-four bits that stand for a text, taken in piece by piece.
///
/// With the open seed, equal texts have equal fingerprints on every machine; with the secret one, nobody
/// outside can look for two texts that share one.
struct Fingerprint {
    private var state: UInt64
    private let factor: UInt64
    private var length: UInt64 = 0

    /// The seed of fingerprints that others may see.
    static let open: UInt64 = 0x6A09_E667_F3BC_C908
    /// Of this process alone.
    static let secret = UInt64.random(in: 0...(.max))

    init(seed: UInt64) {
        state = seed
        factor = Self.fold(seed ^ 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B)
    }

    mutating func add(_ word: UInt64) {
        length &+= 8
        state = Self.fold(state ^ word, factor &+ length &* 2)
    }

    mutating func add(_ number: Double) { add(number.bitPattern) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while bytes.count - place >= 8 {
            add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        // With how many are left, so that zeros at the end count.
        var rest = UInt64(bytes.count - place) << 56
        for offset in 0..<(bytes.count - place) { rest |= UInt64(bytes[place + offset]) << (8 * offset) }
        add(rest)
    }

    var value: UInt64 { Self.fold(state ^ length, factor) ^ state }

    /// Both halves of a product on each other, which brings every bit of `word` everywhere.
    private static func fold(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: factor | 1)
        return high ^ low
    }
}
