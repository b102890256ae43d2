// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// Parallel loops on a limited number of threads.
package enum BoundedConcurrency {
    /// Runs `body` for each index below `count`, on at most `threads` threads, the caller's included. Threads take the
    /// indexes in ascending order, one at a time.
    package static func forEach(below count: Int, threads: Int, _ body: @Sendable (Int) -> Void) {
        forEach(below: count, threads: threads) { index, _ in body(index) }
    }

    /// The same, but also passes the number of the thread that takes the index, which is below `threads`. Calls that run at
    /// the same time have different numbers.
    package static func forEach(
        below count: Int, threads: Int, _ body: @Sendable (_ index: Int, _ thread: Int) -> Void
    ) {
        let workers = min(count, max(1, threads))
        guard workers > 1 else {
            for index in 0..<count { body(index, 0) }
            return
        }
        let next = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: workers) { thread in
            while true {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                body(index, thread)
            }
        }
    }

    /// The results of `body` for each index below `count`, in the order of the indexes. Runs like `forEach`.
    package static func map<Result: Sendable>(
        below count: Int, threads: Int, _ body: @Sendable (Int) -> Result
    ) -> [Result] {
        let results = Mutex([Result?](repeating: nil, count: count))
        forEach(below: count, threads: threads) { index in
            let result = body(index)
            results.withLock { $0[index] = result }
        }
        return results.withLock { $0.compactMap(\.self) }
    }
}
