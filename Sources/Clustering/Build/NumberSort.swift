// SPDX-License-Identifier: MIT

/// Sorting many numbers on several threads.
public enum NumberSort {
    private struct UpperHalf: RadixKey {
        func key(_ element: UInt64) -> UInt64 { element &>> 32 }
    }

    /// The numbers of some arrays by their upper 32 bits; equal ones stay in the order in which they come.
    ///
    /// - Complexity: O(numbers); takes 16 bytes for each besides the result.
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
        let sorted = RadixSort.sort(
            numbers.base, spare: spare.base, count: count, bits: 32, by: UpperHalf(),
            parallel: Parallel(threads: threads))
        return withExtendedLifetime((numbers, spare)) {
            Array(UnsafeBufferPointer(start: sorted, count: count))
        }
    }
}
