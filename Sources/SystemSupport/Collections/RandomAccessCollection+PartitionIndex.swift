// SPDX-License-Identifier: MIT

extension RandomAccessCollection where Index == Int {
    /// Binary search: the first index whose element is not before the target; `endIndex` if all are. The elements
    /// before the target must come first. On a range of integers, the integers may index anything.
    ///
    /// - Complexity: O(log(count)) calls of `isBefore`.
    @inlinable @inline(__always) package func partitionIndex<Failure: Error>(
        where isBefore: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            // None of these overflows. The next read waits for their result.
            let middle = low &+ Int(bitPattern: UInt(bitPattern: high &- low) / 2)
            if try isBefore(self[middle]) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
