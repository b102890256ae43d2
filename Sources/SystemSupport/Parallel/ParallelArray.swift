// SPDX-License-Identifier: MIT

/// Makes arrays with several threads.
package enum ParallelArray {
    /// The least number of elements for one thread.
    private static let smallestShare = 16_384

    /// - Parameters:
    ///   - threads: the most threads. The result does not depend on it.
    ///   - value: returns the element at an index. Called once for each index, from several threads.
    @inline(__always) package static func make<Value: BitwiseCopyable & Sendable>(
        count: Int, threads: Int, _ value: (Int) -> Value
    ) -> [Value] {
        [Value](unsafeUninitializedCapacity: count) { target, written in
            LargePages.advise(target)
            withoutActuallyEscaping(value) { value in
                let work = Work(target: target, value: value)
                ParallelShares.forEach(of: 0..<count, threads: threads, smallest: smallestShare) {
                    work.run($0)
                }
            }
            written = count
        }
    }

    /// Invariant: `target` has room for all elements and outlives the work.
    ///
    /// `@unchecked Sendable` holds because threads write different elements, and `value` only reads.
    private struct Work<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
        let target: UnsafeMutableBufferPointer<Value>
        let value: (Int) -> Value

        @inline(__always) func run(_ places: Range<Int>) {
            for index in places { target.initializeElement(at: index, to: value(index)) }
        }
    }
}
