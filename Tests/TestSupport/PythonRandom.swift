// SPDX-License-Identifier: MIT
import Foundation

/// Python 3.11's `random.Random` for an integer seed: the Mersenne Twister MT19937 (Matsumoto and Nishimura,
/// 1998) and, of the methods on it, those that the golden points are made with.
public struct PythonRandom {
    private var state = [UInt32](repeating: 0, count: 624)
    private var place = 624
    private var spareGauss: Double?

    public init(seed: UInt32) {
        state[0] = 19_650_218
        for index in 1..<624 {
            state[index] = 1_812_433_253 &* (state[index - 1] ^ (state[index - 1] >> 30)) &+ UInt32(index)
        }
        var index = 1
        for _ in 0..<624 {
            state[index] = (state[index] ^ ((state[index - 1] ^ (state[index - 1] >> 30)) &* 1_664_525)) &+ seed
            index += 1
            if index == 624 {
                state[0] = state[623]
                index = 1
            }
        }
        for _ in 0..<623 {
            let mixed = (state[index - 1] ^ (state[index - 1] >> 30)) &* 1_566_083_941
            state[index] = (state[index] ^ mixed) &- UInt32(index)
            index += 1
            if index == 624 {
                state[0] = state[623]
                index = 1
            }
        }
        state[0] = 0x8000_0000
    }

    private mutating func next() -> UInt32 {
        if place == 624 {
            for index in 0..<624 {
                let bits = (state[index] & 0x8000_0000) | (state[(index + 1) % 624] & 0x7FFF_FFFF)
                state[index] = state[(index + 397) % 624] ^ (bits >> 1) ^ (bits & 1 == 0 ? 0 : 0x9908_B0DF)
            }
            place = 0
        }
        var value = state[place]
        place += 1
        value ^= value >> 11
        value ^= (value << 7) & 0x9D2C_5680
        value ^= (value << 15) & 0xEFC6_0000
        return value ^ (value >> 18)
    }

    public mutating func random() -> Double {
        let high = Double(next() >> 5)
        return (high * 67_108_864 + Double(next() >> 6)) / 9_007_199_254_740_992
    }

    public mutating func uniform(_ low: Double, _ high: Double) -> Double { low + (high - low) * random() }

    /// An integer from 0 up to, not including, `bound`.
    public mutating func randrange(_ bound: Int) -> Int {
        let bits = UInt32(Int.bitWidth - bound.leadingZeroBitCount)
        while true {
            let value = Int(next() >> (32 - bits))
            if value < bound { return value }
        }
    }

    public mutating func gauss(_ mean: Double, _ deviation: Double) -> Double {
        if let spare = spareGauss {
            spareGauss = nil
            return mean + spare * deviation
        }
        let angle = random() * (2 * Double.pi)
        let radius = (-2 * log(1 - random())).squareRoot()
        spareGauss = sin(angle) * radius
        return mean + cos(angle) * radius * deviation
    }

    /// `choices(range(len(weights)), weights, k=count)`.
    public mutating func choices(weights: [Double], count: Int) -> [Int] {
        var sums: [Double] = []
        for weight in weights { sums.append((sums.last ?? 0) + weight) }
        let total = sums[sums.count - 1]
        return (0..<count).map { _ in
            let wanted = random() * total
            var (low, high) = (0, sums.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if wanted < sums[middle] { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }
}
