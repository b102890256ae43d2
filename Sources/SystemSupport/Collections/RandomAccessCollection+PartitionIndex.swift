// SPDX-License-Identifier: MIT

extension RandomAccessCollection where Index == Int {
    /// The first index whose element is not before what is searched for; `endIndex` if all are. The elements that are before
    /// must come first. On a range of integers it searches whatever these number.
    ///
    /// - Complexity: O(log(count)) calls of `isBefore`.
    @inlinable @inline(__always)
    package func partitionIndex<Failure: Error>(
        where isBefore: (Element) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if try isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
