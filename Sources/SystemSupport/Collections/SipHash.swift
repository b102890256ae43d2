// SPDX-License-Identifier: MIT

/// SipHash with a key: a hash for which nobody without the key can find inputs that collide (Aumasson and
/// Bernstein, "SipHash: a fast short-input PRF", 2012). The same key gives the same hashes in every process.
package struct SipHash: Sendable, Equatable {
    /// The key, as two words.
    package let key: [UInt64]

    /// A random key.
    package static func random() -> SipHash {
        SipHash(.random(in: 0...(.max)), .random(in: 0...(.max)))
    }

    package init(_ first: UInt64, _ second: UInt64) {
        key = [first, second]
        start = State(first, second)
    }

    /// Nil if these are not the two words of a key.
    package init?(key: [UInt64]) {
        guard key.count == 2 else { return nil }
        self.init(key[0], key[1])
    }

    private let start: State

    /// SipHash-1-3. O(bytes).
    package func hash(_ bytes: RawSpan) -> UInt64 { hash(bytes, rounds: 1, lastRounds: 3) }

    /// SipHash-2-4, which other programs have too. O(bytes).
    package func strongHash(_ bytes: RawSpan) -> UInt64 { hash(bytes, rounds: 2, lastRounds: 4) }

    @inline(__always)
    private func hash(_ bytes: RawSpan, rounds: Int, lastRounds: Int) -> UInt64 {
        var state = start
        let whole = bytes.byteCount & ~7
        for offset in stride(from: 0, to: whole, by: 8) {
            state.add(UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)), rounds)
        }
        var last = UInt64(truncatingIfNeeded: bytes.byteCount) &<< 56
        for offset in whole..<bytes.byteCount {
            last |= UInt64(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) &<< UInt64(8 &* (offset &- whole))
        }
        state.add(last, rounds)
        return state.finish(lastRounds)
    }

    private struct State: Equatable {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(_ first: UInt64, _ second: UInt64) {
            v0 = first ^ 0x736f_6d65_7073_6575
            v1 = second ^ 0x646f_7261_6e64_6f6d
            v2 = first ^ 0x6c79_6765_6e65_7261
            v3 = second ^ 0x7465_6462_7974_6573
        }

        @inline(__always) mutating func add(_ word: UInt64, _ rounds: Int) {
            v3 ^= word
            for _ in 0..<rounds { round() }
            v0 ^= word
        }

        @inline(__always) mutating func finish(_ rounds: Int) -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<rounds { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        @inline(__always) private mutating func round() {
            v0 = v0 &+ v1
            v1 = Self.rotate(v1, 13) ^ v0
            v0 = Self.rotate(v0, 32)
            v2 = v2 &+ v3
            v3 = Self.rotate(v3, 16) ^ v2
            v0 = v0 &+ v3
            v3 = Self.rotate(v3, 21) ^ v0
            v2 = v2 &+ v1
            v1 = Self.rotate(v1, 17) ^ v2
            v2 = Self.rotate(v2, 32)
        }

        @inline(__always) private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
            word &<< count | word &>> (64 &- count)
        }
    }
}
