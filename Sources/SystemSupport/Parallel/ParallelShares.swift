// SPDX-License-Identifier: MIT
import Dispatch

/// Ranges that are worked on in equal shares, one for each thread.
package enum ParallelShares {
    /// Runs `body` for consecutive shares of a range, at the same time on at most `threads` threads, the caller's included.
    /// The outcome must not depend on the shares.
    ///
    /// - Parameter smallest: fewer elements than these are one thread's.
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
