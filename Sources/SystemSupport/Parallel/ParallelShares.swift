// SPDX-License-Identifier: MIT
import Dispatch

/// Divides ranges into equal shares, one for each thread.
package enum ParallelShares {
    /// Runs `body` for consecutive shares of a range in parallel, on at most `threads` threads, including the caller's.
    /// The result must not depend on how the range is divided.
    ///
    /// - Parameter smallest: the least number of elements for one thread.
    @inline(__always) package static func forEach(
        of range: Range<Int>, threads: Int, smallest: Int, _ body: @Sendable (Range<Int>) -> Void
    ) {
        let shares = max(1, min(threads, range.count / max(1, smallest)))
        guard shares > 1 else { return body(range) }
        DispatchQueue.concurrentPerform(iterations: shares) { share in
            let start = range.lowerBound + range.count * share / shares
            body(start..<range.lowerBound + range.count * (share + 1) / shares)
        }
    }
}
