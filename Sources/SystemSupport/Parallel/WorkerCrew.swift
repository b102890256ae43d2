// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// Threads that work on one pass after another, for work of many short passes: between two passes they stay awake for some
/// tens of microseconds, since waking a thread takes about as long as such a pass.
///
/// The threads begin with the first pass that has several shares and end with the crew. They have the priority of the
/// thread that begins the first pass.
package final class WorkerCrew: Sendable {
    /// How many threads work, the caller's included.
    package let threads: Int
    private let board = Board()
    private let isStarted = Atomic(false)
    private let isBusy = Atomic(false)

    package init(threads: Int) { self.threads = max(1, threads) }

    deinit { board.end() }

    /// Calls `body` once for each share below `shares`, at the same time, and waits for all. Shares are begun in
    /// ascending order.
    ///
    /// - Parameter body: gets the share and the number of the worker that it runs on, below `threads`; no two calls at the
    ///   same time have the same worker. It must touch, for each share, only what no other share's call writes.
    package func run(_ shares: Int, _ body: (_ share: Int, _ worker: Int) -> Void) {
        // A pass within a pass, or beside another, has its caller alone.
        guard shares > 1, threads > 1, shares <= Board.mostShares,
            !isBusy.exchange(true, ordering: .acquiring)
        else {
            for share in 0..<shares { body(share, 0) }
            return
        }
        if !isStarted.exchange(true, ordering: .relaxed) { start() }
        withoutActuallyEscaping(body) { board.run(shares, $0) }
        isBusy.store(false, ordering: .releasing)
    }

    private func start() {
        let board = board
        for worker in 1..<threads {
            // If the system refuses a thread, the others do its part.
            _ = BackgroundThread.detach { board.work(as: worker) }
        }
    }
}

/// What the crew's threads share.
///
/// Invariant: `body` is written while all shares of the last pass have ended and none of the next can be taken. A thread
/// reads it after it has taken a share and before it has reported that share's end. That is why this may be shared.
private final class Board: @unchecked Sendable {
    static let mostShares = Int(Int32.max)
    /// How often a thread looks for work, or for the end of it, before it sleeps: for some tens of microseconds. It does not
    /// yield, since the scheduler would then prefer other processes for some milliseconds.
    #if DEBUG
        // A look takes a hundred times as long without optimization.
        private static let looks = 1 << 9
    #else
        private static let looks = 1 << 15
    #endif

    private var body: ((Int, Int) -> Void)?
    /// How many shares the pass has, above the next one to be taken.
    private let ticket = Atomic<UInt64>(0)
    private let ended = Atomic(0)
    private let sleepers = Atomic(0)
    private let isCallerAsleep = Atomic(false)
    private let isOver = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)
    private let wakeCaller = DispatchSemaphore(value: 0)

    /// Does a pass; on the caller's thread.
    func run(_ shares: Int, _ body: @escaping (Int, Int) -> Void) {
        self.body = body
        ended.store(0, ordering: .relaxed)
        ticket.store(UInt64(shares) << 32, ordering: .sequentiallyConsistent)
        wakeAll()
        while let share = take() { perform(share, worker: 0) }
        waitForEnd(of: shares)
        self.body = nil
    }

    /// Works until the crew ends; on a thread of its own.
    func work(as worker: Int) {
        while true {
            var looks = 0
            while !isOver.load(ordering: .relaxed), looks < Self.looks {
                if let share = take() {
                    perform(share, worker: worker)
                    looks = 0
                } else {
                    looks += 1
                }
            }
            if isOver.load(ordering: .relaxed) { return }
            sleep()
        }
    }

    func end() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        wakeAll()
    }

    /// The next share of the pass; nil if all are taken.
    private func take() -> Int? {
        var seen = ticket.load(ordering: .acquiring)
        while UInt32(truncatingIfNeeded: seen) < UInt32(seen >> 32) {
            let (isTaken, now) = ticket.compareExchange(
                expected: seen, desired: seen + 1, ordering: .acquiringAndReleasing)
            if isTaken { return Int(UInt32(truncatingIfNeeded: seen)) }
            seen = now
        }
        return nil
    }

    private func perform(_ share: Int, worker: Int) {
        call(share, worker)
        // The caller may go on as soon as it reads this.
        let count = ended.add(1, ordering: .sequentiallyConsistent).newValue
        guard count == Int(ticket.load(ordering: .relaxed) >> 32) else { return }
        if isCallerAsleep.exchange(false, ordering: .sequentiallyConsistent) { wakeCaller.signal() }
    }

    /// A function of its own, which has let go of `body` when it returns.
    @inline(never) private func call(_ share: Int, _ worker: Int) { body?(share, worker) }

    private func waitForEnd(of shares: Int) {
        var looks = 0
        while ended.load(ordering: .acquiring) < shares {
            looks += 1
            if looks <= Self.looks { continue }
            isCallerAsleep.store(true, ordering: .sequentiallyConsistent)
            // An end that came before the flag was seen does not signal.
            if ended.load(ordering: .sequentiallyConsistent) >= shares,
                isCallerAsleep.exchange(false, ordering: .sequentiallyConsistent)
            {
                return
            }
            wakeCaller.wait()
        }
    }

    /// Sleeps until there is a pass, or the end.
    private func sleep() {
        sleepers.add(1, ordering: .sequentiallyConsistent)
        let seen = ticket.load(ordering: .sequentiallyConsistent)
        let hasWork = UInt32(truncatingIfNeeded: seen) < UInt32(seen >> 32)
        if hasWork || isOver.load(ordering: .sequentiallyConsistent), leaveSleepers() { return }
        wake.wait()
    }

    /// Takes one back from `sleepers`; false if a signal for it is on its way.
    private func leaveSleepers() -> Bool {
        var count = sleepers.load(ordering: .relaxed)
        while count > 0 {
            let (isDone, now) = sleepers.compareExchange(
                expected: count, desired: count - 1, ordering: .sequentiallyConsistent)
            if isDone { return true }
            count = now
        }
        return false
    }

    private func wakeAll() {
        for _ in 0..<sleepers.exchange(0, ordering: .sequentiallyConsistent) { wake.signal() }
    }
}
