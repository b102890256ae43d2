// SPDX-License-Identifier: MIT
import Dispatch

/// Work split over the machine's cores; what is computed never depends on how many there are.
struct Parallel {
    let threads: Int
    /// Asked from any thread; once true it stays so.
    let isCancelled: @Sendable () -> Bool

    init(threads: Int, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.threads = max(1, threads)
        self.isCancelled = isCancelled
    }

    /// Whether to stop at an item of a long pass; only every so many of them are a reason to ask.
    @inline(__always) func stops(at item: Int) -> Bool {
        item & (Self.itemsBetweenLooks - 1) == 0 && isCancelled()
    }

    /// Some milliseconds' work at most.
    private static let itemsBetweenLooks = 1 << 15

    func stopIfCancelled() throws(ClusteringError) {
        if isCancelled() { throw .cancelled }
    }

    /// Below this many items a second thread costs more than it saves.
    static let smallestShare = 8192

    func shares(of count: Int) -> Int {
        max(1, min(threads, count / Self.smallestShare))
    }

    /// Calls `body` once for each share's index, at the same time if there are cores for it.
    ///
    /// `body` must touch, for each index, only what no other index's call writes; that is what makes the
    /// unchecked hand-over to other threads sound.
    func run(_ shares: Int, _ body: (Int) -> Void) {
        if shares == 1 { return body(0) }
        withoutActuallyEscaping(body) { body in
            let work = Unchecked(body)
            DispatchQueue.concurrentPerform(iterations: shares) { work.value($0) }
        }
    }

    /// The bounds of share `index` of `count` items.
    static func bounds(_ index: Int, of shares: Int, count: Int) -> (start: Int, end: Int) {
        (count * index / shares, count * (index + 1) / shares)
    }
}
