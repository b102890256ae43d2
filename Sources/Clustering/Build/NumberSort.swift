// SPDX-License-Identifier: MIT
import SystemSupport

/// Sorts many numbers on several threads.
public enum NumberSort {
    private struct UpperHalf: RadixKey {
        func key(_ element: UInt64) -> UInt64 { element &>> 32 }
    }

    /// Returns the numbers of all arrays, sorted by their upper 32 bits. The sort is stable.
    ///
    /// - Complexity: O(numbers); uses 16 bytes per number besides the result.
    public static func byUpperHalf(_ parts: [[UInt64]], threads: Int) -> [UInt64] {
        let count = parts.reduce(0) { $0 + $1.count }
        let (numbers, spare) = (Scratch<UInt64>(capacity: count), Scratch<UInt64>(capacity: count))
        var place = 0
        for part in parts {
            part.withUnsafeBufferPointer { part in
                guard let start = part.baseAddress else { return }
                (numbers.base + place).initialize(from: start, count: part.count)
            }
            place += part.count
        }
        RadixSort.sort(
            numbers.base, spare: spare.base, count: count, bits: 32, by: UpperHalf(),
            parallel: Parallel(.awake, threads: threads))
        return withExtendedLifetime((numbers, spare)) {
            Array(UnsafeBufferPointer(start: numbers.base, count: count))
        }
    }

    private struct Ranked: BitwiseCopyable {
        var key: UInt64
        var index: UInt32
    }

    private struct WholeKey: RadixKey {
        func key(_ element: Ranked) -> UInt64 { element.key }
    }

    /// Returns the indexes of the numbers in ascending order. The sort is stable.
    ///
    /// - Complexity: O(numbers); uses 32 bytes per number besides the result.
    public static func ranks(of keys: [UInt64], threads: Int) -> [UInt32] {
        let (ranked, spare) = (Scratch<Ranked>(capacity: keys.count), Scratch<Ranked>(capacity: keys.count))
        for (index, key) in keys.enumerated() {
            ranked.base[index] = Ranked(key: key, index: UInt32(truncatingIfNeeded: index))
        }
        RadixSort.sort(
            ranked.base, spare: spare.base, count: keys.count, bits: 64, by: WholeKey(),
            parallel: Parallel(.awake, threads: threads))
        return withExtendedLifetime((ranked, spare)) { (0..<keys.count).map { ranked.base[$0].index } }
    }
}
