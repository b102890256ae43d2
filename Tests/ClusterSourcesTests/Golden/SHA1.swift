// SPDX-License-Identifier: MIT

/// SHA-1 (RFC 3174), by which the golden records tell long lists.
enum SHA1 {
    static func hex(of text: String) -> String {
        var message = Array(text.utf8)
        let bits = UInt64(message.count) * 8
        message.append(0x80)
        while message.count % 64 != 56 { message.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            message.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        for start in stride(from: 0, to: message.count, by: 64) { mix(message[start..<start + 64], &state) }
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    private static func mix(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
            block[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for i in 16..<80 {
            words.append(turned(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for i in 0..<80 {
            let (f, k): (UInt32, UInt32) =
                switch i {
                case 0..<20: ((b & c) | (~b & d), 0x5a82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
                case 40..<60: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
                default: (b ^ c ^ d, 0xca62_c1d6)
                }
            let next = turned(a, by: 5) &+ f &+ e &+ k &+ words[i]
            (a, b, c, d, e) = (next, a, turned(b, by: 30), c, d)
        }
        for (i, word) in [a, b, c, d, e].enumerated() { state[i] = state[i] &+ word }
    }

    private static func turned(_ word: UInt32, by bits: UInt32) -> UInt32 {
        word << bits | word >> (32 - bits)
    }
}
