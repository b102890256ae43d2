// SPDX-License-Identifier: MIT
import Foundation

/// Python's `random.Random`, as far as the golden records' points were made with it.
struct MersenneTwister {
    private var state = [UInt32](repeating: 0, count: 624)
    private var position = 624
    private var spareGauss: Double?

    init(seed: UInt32) {
        fill(19_650_218)
        var (i, j) = (1, 0)
        for _ in 0..<624 {
            state[i] = (state[i] ^ (mixed(state[i - 1]) &* 1_664_525)) &+ seed &+ UInt32(j)
            i += 1
            j = 0
            if i >= 624 {
                state[0] = state[623]
                i = 1
            }
        }
        for _ in 0..<623 {
            state[i] = (state[i] ^ (mixed(state[i - 1]) &* 1_566_083_941)) &- UInt32(i)
            i += 1
            if i >= 624 {
                state[0] = state[623]
                i = 1
            }
        }
        state[0] = 0x8000_0000
    }

    private func mixed(_ word: UInt32) -> UInt32 { word ^ (word >> 30) }

    private mutating func fill(_ seed: UInt32) {
        state[0] = seed
        for i in 1..<624 { state[i] = mixed(state[i - 1]) &* 1_812_433_253 &+ UInt32(i) }
    }

    private mutating func word() -> UInt32 {
        if position == 624 { turn() }
        var word = state[position]
        position += 1
        word ^= word >> 11
        word ^= (word << 7) & 0x9d2c_5680
        word ^= (word << 15) & 0xefc6_0000
        return word ^ (word >> 18)
    }

    private mutating func turn() {
        for i in 0..<624 {
            let y = (state[i] & 0x8000_0000) | (state[(i + 1) % 624] & 0x7fff_ffff)
            state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 == 0 ? 0 : 0x9908_b0df)
        }
        position = 0
    }

    /// 0 up to, not including, 1.
    mutating func random() -> Double {
        let (high, low) = (word() >> 5, word() >> 6)
        return (Double(high) * 67_108_864 + Double(low)) / 9_007_199_254_740_992
    }

    mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * random() }

    /// 0 up to, not including, `count`.
    mutating func below(_ count: Int) -> Int {
        let bits = UInt32(Int.bitWidth - count.leadingZeroBitCount)
        while true {
            let number = Int(word() >> (32 - bits))
            if number < count { return number }
        }
    }

    mutating func gauss(_ mean: Double, _ deviation: Double) -> Double {
        if let spare = spareGauss {
            spareGauss = nil
            return mean + spare * deviation
        }
        let angle = random() * 2 * Double.pi
        let radius = (-2 * log(1 - random())).squareRoot()
        spareGauss = sin(angle) * radius
        return mean + cos(angle) * radius * deviation
    }

    /// Picks `count` places with a likelihood by weight.
    mutating func choices(weights: [Double], count: Int) -> [Int] {
        var sums: [Double] = []
        for weight in weights { sums.append((sums.last ?? 0) + weight) }
        let total = sums[sums.count - 1]
        return (0..<count).map { _ in
            let target = random() * total
            var (low, high) = (0, sums.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if target < sums[middle] { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }
}
