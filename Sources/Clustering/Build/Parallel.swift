// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// Divides work among the machine's cores; the results never depend on how many there are.
struct Parallel {
    let threads: Int
    /// Called from any thread; once true it stays true.
    let isCancelled: @Sendable () -> Bool

    /// Below this many items a second thread costs more than it saves.
    let smallestShare: Int
    /// Nil if passes run on the process's shared threads.
    private let crew: WorkerCrew?

    init(
        threads: Int, smallestShare: Int = smallestShare,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.threads = max(1, threads)
        self.smallestShare = smallestShare
        self.isCancelled = isCancelled
        crew = WorkerCrew(threads: threads)
    }

    /// For work with few passes and much time between them: threads of its own would sleep most of the time.
    ///
    /// - Parameter smallestShare: below this many items a second thread costs more than it saves.
    init(onSharedThreads threads: Int, smallestShare: Int) {
        self.threads = max(1, threads)
        self.smallestShare = smallestShare
        isCancelled = { false }
        crew = nil
    }

    /// Whether to stop at an item of a long pass. Calls `isCancelled` for one item in `itemsBetweenLooks`.
    @inline(__always) func stops(at item: Int) -> Bool {
        item & (Self.itemsBetweenLooks - 1) == 0 && isCancelled()
    }

    /// At most a few milliseconds of work between two calls.
    static let itemsBetweenLooks = 1 << 15

    /// Calls `body` with the ranges of a share's items, one after the other, until the build is cancelled.
    ///
    /// For passes that write memory for the first time: the system clears it then, which takes longer than the pass itself.
    @inline(__always) func forEachPart(
        of share: Int, of shares: Int, count: Int, _ body: (Range<Int>) -> Void
    ) {
        var (start, end) = Self.bounds(share, of: shares, count: count)
        while start < end, !isCancelled() {
            let next = min(end, start + Self.itemsBetweenLooks)
            body(start..<next)
            start = next
        }
    }

    func stopIfCancelled() throws(ClusteringError) {
        if isCancelled() { throw .cancelled }
    }

    static let smallestShare = 4096

    /// The number of shares for a pass. There are several per thread, because items differ in cost and threads in speed, so that no
    /// thread waits long for the slowest.
    ///
    /// - Parameter perThread: fewer if each share costs something itself.
    func shares(of count: Int, perThread: Int = 8) -> Int {
        threads == 1 ? 1 : max(1, min(perThread * threads, count / smallestShare))
    }

    /// Calls `body` once for each share's index, concurrently, on at most `threads` threads.
    ///
    /// For each index, `body` must access only memory that no other index's call writes. That makes the unchecked
    /// transfer to other threads sound.
    func run(_ shares: Int, _ body: (Int) -> Void) {
        if shares == 1 { return body(0) }
        run(shares) { share, _ in body(share) }
    }

    /// The same, but also passes the number of the worker that runs the share, which is below `threads`. Calls that run at
    /// the same time have different numbers.
    func run(_ shares: Int, _ body: (_ share: Int, _ worker: Int) -> Void) {
        if shares == 1 { return body(0, 0) }
        if let crew { return crew.run(shares, body) }
        withoutActuallyEscaping(body) { body in
            let work = Unchecked(body)
            BoundedConcurrency.forEach(below: shares, threads: threads) { work.value($0, $1) }
        }
    }

    /// The results of `body` for each share's index, in the order of the indexes. Runs like `run`.
    func map<Result: Sendable>(_ shares: Int, _ body: (_ share: Int, _ worker: Int) -> Result) -> [Result] {
        if shares == 1 { return [body(0, 0)] }
        let results = Mutex([Result?](repeating: nil, count: shares))
        run(shares) { share, worker in
            let result = body(share, worker)
            results.withLock { $0[share] = result }
        }
        return results.withLock { $0.compactMap(\.self) }
    }

    /// Sets all values of `memory` to one value.
    func fill<Value: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Value>, count: Int, with value: Value) {
        let shares = shares(of: count)
        run(shares) { share in
            let (start, end) = Self.bounds(share, of: shares, count: count)
            (memory + start).initialize(repeating: value, count: end - start)
        }
    }

    /// Replaces each count by the sum of those before it, and returns the total.
    static func accumulate(_ counts: inout [Int]) -> Int {
        var sum = 0
        for index in counts.indices { (counts[index], sum) = (sum, sum + counts[index]) }
        return sum
    }

    /// The bounds of share `index` of `count` items.
    static func bounds(_ index: Int, of shares: Int, count: Int) -> (start: Int, end: Int) {
        (count * index / shares, count * (index + 1) / shares)
    }
}
