// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// Divides work among threads, the caller's included. Results never depend on how many there are.
///
/// Every function waits until all of its work has ended. Work is taken in ascending order of its index.
@usableFromInline package struct Parallel: Sendable {
    /// The threads that help the caller's.
    package enum Helpers: Sendable {
        /// The process's shared threads: for one pass of at most about a second.
        case shared
        /// Threads that begin and end with the pass: for work of many seconds or that waits for a disk, so that the
        /// shared threads stay free for urgent work. They have the caller's priority.
        case own
        /// Threads that stay awake from one pass to the next: for many short passes.
        case awake
    }

    /// The most threads, the caller's included.
    package let threads: Int
    /// Below this many items a second thread costs more than it saves.
    package let smallestShare: Int
    /// Called from any thread; once true it stays true.
    @usableFromInline package let isCancelled: @Sendable () -> Bool
    private let helpers: Helpers
    private let awake: AwakeThreads?

    package init(
        _ helpers: Helpers, threads: Int, smallestShare: Int = smallestShare,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.helpers = helpers
        self.threads = max(1, threads)
        self.smallestShare = smallestShare
        self.isCancelled = isCancelled
        awake = helpers == .awake ? AwakeThreads(threads: threads) : nil
    }

    package static let smallestShare = 4096

    // MARK: Passes

    /// Calls `body` for each index below `count`.
    package func forEach(below count: Int, _ body: @Sendable (Int) -> Void) {
        run(count) { index, _ in body(index) }
    }

    /// The results of `body` for each index below `count`, in the order of the indexes.
    package func map<Result: Sendable>(below count: Int, _ body: @Sendable (Int) -> Result) -> [Result] {
        map(count) { index, _ in body(index) }
    }

    /// Calls `body` with equal consecutive shares of a range, one for each thread.
    ///
    /// - Parameter smallest: the least number of elements for one thread.
    @inline(__always) package func forEachShare(
        of range: Range<Int>, smallest: Int, _ body: @Sendable (Range<Int>) -> Void
    ) {
        let shares = max(1, min(threads, range.count / max(1, smallest)))
        guard shares > 1 else { return body(range) }
        forEach(below: shares) { share in
            let (start, end) = Self.bounds(share, of: shares, count: range.count)
            body(range.lowerBound + start..<range.lowerBound + end)
        }
    }

    /// Calls `body` once for each index below `count`, concurrently.
    ///
    /// For each index, `body` must access only memory that no other index's call writes. That makes the unchecked
    /// transfer to other threads sound.
    @usableFromInline package func run(_ count: Int, _ body: (Int) -> Void) {
        if count == 1 { return body(0) }
        run(count) { index, _ in body(index) }
    }

    /// The same, but also passes the number of the thread, which is below `threads`. Calls that run at the same time
    /// have different numbers.
    package func run(_ count: Int, _ body: (_ index: Int, _ thread: Int) -> Void) {
        if count == 1 { return body(0, 0) }
        if let awake { return awake.run(count, body) }
        let workers = min(count, threads)
        guard workers > 1 else {
            for index in 0..<count { body(index, 0) }
            return
        }
        withoutActuallyEscaping(body) { body in
            let pass = Pass(count: count, body: body)
            switch helpers {
            case .own: BackgroundThread.run(on: workers) { pass.work($0) }
            case .shared, .awake: DispatchQueue.concurrentPerform(iterations: workers) { pass.work($0) }
            }
        }
    }

    /// The results of `body` for each index, in the order of the indexes. Runs like `run`.
    package func map<Result: Sendable>(_ count: Int, _ body: (_ index: Int, _ thread: Int) -> Result) -> [Result] {
        if count == 1 { return [body(0, 0)] }
        let results = Mutex([Result?](repeating: nil, count: count))
        run(count) { index, thread in
            let result = body(index, thread)
            results.withLock { $0[index] = result }
        }
        return results.withLock { $0.compactMap(\.self) }
    }

    /// Invariant: `body` outlives the pass, and accesses for each index only memory that no other index's call writes.
    /// So threads may share it.
    private final class Pass: @unchecked Sendable {
        private let next = Atomic(0)
        private let count: Int
        private let body: (Int, Int) -> Void

        init(count: Int, body: @escaping (Int, Int) -> Void) { (self.count, self.body) = (count, body) }

        func work(_ thread: Int) {
            while true {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                body(index, thread)
            }
        }
    }

    // MARK: Shares

    /// The number of shares for a pass. There are several per thread, because items differ in cost and threads in
    /// speed, so that no thread waits long for the slowest.
    ///
    /// - Parameter perThread: fewer if each share costs something itself.
    @usableFromInline package func shares(of count: Int, perThread: Int = 8) -> Int {
        threads == 1 ? 1 : max(1, min(perThread * threads, count / smallestShare))
    }

    /// The bounds of share `index` of `count` items.
    @inlinable package static func bounds(_ index: Int, of shares: Int, count: Int) -> (start: Int, end: Int) {
        (count * index / shares, count * (index + 1) / shares)
    }

    /// Replaces each count by the sum of those before it, and returns the total.
    package static func accumulate(_ counts: inout [Int]) -> Int {
        var sum = 0
        for index in counts.indices { (counts[index], sum) = (sum, sum + counts[index]) }
        return sum
    }

    /// Calls `body` with the ranges of a share's items, one after the other, until the work is cancelled.
    ///
    /// For passes that write memory for the first time: the system clears it then, which takes longer than the pass
    /// itself.
    @inlinable @inline(__always) package func forEachPart(
        of share: Int, of shares: Int, count: Int, _ body: (Range<Int>) -> Void
    ) {
        var (start, end) = Self.bounds(share, of: shares, count: count)
        while start < end, !isCancelled() {
            let next = min(end, start + Self.itemsBetweenLooks)
            body(start..<next)
            start = next
        }
    }

    /// Whether to stop at an item of a long pass. Calls `isCancelled` for one item in `itemsBetweenLooks`.
    @inlinable @inline(__always) package func stops(at item: Int) -> Bool {
        item & (Self.itemsBetweenLooks - 1) == 0 && isCancelled()
    }

    /// At most a few milliseconds of work between two calls.
    @inlinable package static var itemsBetweenLooks: Int { 1 << 15 }

    // MARK: Arrays

    /// The values for each index below `count`.
    ///
    /// - Parameter value: called once for each index, from several threads. It must only read.
    @inline(__always) package func array<Value: BitwiseCopyable & Sendable>(
        count: Int, _ value: (Int) -> Value
    ) -> [Value] {
        [Value](unsafeUninitializedCapacity: count) { target, written in
            LargePages.advise(target)
            let shares = max(1, min(threads, count / Self.smallestArray))
            run(shares) { share in
                let (start, end) = Self.bounds(share, of: shares, count: count)
                for index in start..<end { target.initializeElement(at: index, to: value(index)) }
            }
            written = count
        }
    }

    /// A copy of consecutive values, aligned or not.
    package func copy<Value: BitwiseCopyable>(_ bytes: UnsafeRawBufferPointer) -> [Value] {
        let count = bytes.count / MemoryLayout<Value>.stride
        return [Value](unsafeUninitializedCapacity: count) { target, written in
            LargePages.advise(target)
            let raw = UnsafeMutableRawBufferPointer(target)
            let shares = max(1, min(threads, bytes.count / Self.smallestCopy))
            run(shares) { share in
                let (start, end) = Self.bounds(share, of: shares, count: bytes.count)
                UnsafeMutableRawBufferPointer(rebasing: raw[start..<end])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
            written = count
        }
    }

    /// The least number of elements and of bytes for one thread.
    private static let (smallestArray, smallestCopy) = (16_384, 1 << 20)

    /// Sets all values of `memory` to one value.
    @inlinable package func fill<Value: BitwiseCopyable>(
        _ memory: UnsafeMutablePointer<Value>, count: Int, with value: Value
    ) {
        let shares = shares(of: count)
        run(shares) { share in
            let (start, end) = Self.bounds(share, of: shares, count: count)
            (memory + start).initialize(repeating: value, count: end - start)
        }
    }
}
