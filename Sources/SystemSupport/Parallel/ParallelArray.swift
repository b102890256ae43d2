// SPDX-License-Identifier: MIT

/// Arrays whose elements are made by several threads.
package enum ParallelArray {
    /// Fewer elements than these are one thread's.
    private static let smallestShare = 16_384

    /// - Parameters:
    ///   - threads: how many work on it; the outcome does not depend on it.
    ///   - value: gives the element of a place; called once for each, from several threads.
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
    /// `@unchecked Sendable` holds because shares write different elements, and `value` only reads.
    private struct Work<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
        let target: UnsafeMutableBufferPointer<Value>
        let value: (Int) -> Value

        @inline(__always) func run(_ places: Range<Int>) {
            for place in places { target.initializeElement(at: place, to: value(place)) }
        }
    }
}
