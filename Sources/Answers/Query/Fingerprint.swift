// SPDX-License-Identifier: MIT
import Sources

/// A 64-bit hash of a text, computed piece by piece.
///
/// With the open seed, equal texts have equal fingerprints on every machine. With the secret seed, nobody
/// outside can construct two texts with the same fingerprint.
struct Fingerprint {
    private var state: UInt64
    private let factor: UInt64
    private var length: UInt64 = 0

    /// The seed of fingerprints that clients see.
    static let open: UInt64 = 0x6A09_E667_F3BC_C908
    /// The seed of this process only.
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
        var index = 0
        while bytes.count - index >= 8 {
            add(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        // Includes the number of remaining bytes, so that trailing zeros count.
        var rest = UInt64(bytes.count - index) << 56
        for offset in 0..<(bytes.count - index) { rest |= UInt64(bytes[index + offset]) << (8 * offset) }
        add(rest)
    }

    var value: UInt64 { Self.fold(state ^ length, factor) ^ state }

    /// Combines both halves of a product, which spreads every bit of `word`.
    private static func fold(_ word: UInt64, _ factor: UInt64) -> UInt64 {
        let (high, low) = word.multipliedFullWidth(by: factor | 1)
        return high ^ low
    }
}
