// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// Threads for work that consists of many short passes. Between two passes they stay awake for
/// tens of microseconds, since waking a thread takes about as long as such a pass.
///
/// The threads start with the first pass of several shares and end with the crew. They have the priority of the
/// thread that runs the first pass.
package final class WorkerCrew: Sendable {
    /// The number of threads, including the caller's.
    package let threads: Int
    private let board = Board()
    private let isStarted = Atomic(false)
    private let isBusy = Atomic(false)

    package init(threads: Int) { self.threads = max(1, threads) }

    deinit { board.end() }

    /// Calls `body` once for each share below `shares`, in parallel, and waits for all. Shares start in
    /// ascending order.
    ///
    /// - Parameter body: receives the share and the number of its worker, below `threads`. No two calls at the
    ///   same time have the same worker. The call for a share must not touch what another share's call writes.
    package func run(_ shares: Int, _ body: (_ share: Int, _ worker: Int) -> Void) {
        // A nested or concurrent pass runs on its caller's thread only.
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
            // If the system refuses a thread, the others do its work.
            _ = BackgroundThread.detach { board.work(as: worker) }
        }
    }
}

/// The state that the crew's threads share.
///
/// Invariant: `body` is written only after all shares of the last pass have ended and before any of the next can be taken. A thread
/// reads it after it has taken a share and before it has reported that share's end. So this may be shared.
private final class Board: @unchecked Sendable {
    static let mostShares = Int(Int32.max)
    /// How often a thread polls for work, or for its end, before it sleeps: tens of microseconds. It does not
    /// yield, since the scheduler would then prefer other processes for several milliseconds.
    #if DEBUG
        // Polling takes a hundred times as long without optimization.
        private static let looks = 1 << 9
    #else
        private static let looks = 1 << 15
    #endif

    private var body: ((Int, Int) -> Void)?
    /// The number of shares in the upper half, the next share to take in the lower.
    private let ticket = Atomic<UInt64>(0)
    private let ended = Atomic(0)
    private let sleepers = Atomic(0)
    private let isCallerAsleep = Atomic(false)
    private let isOver = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)
    private let wakeCaller = DispatchSemaphore(value: 0)

    /// Runs a pass; on the caller's thread.
    func run(_ shares: Int, _ body: @escaping (Int, Int) -> Void) {
        self.body = body
        ended.store(0, ordering: .relaxed)
        ticket.store(UInt64(shares) << 32, ordering: .sequentiallyConsistent)
        wakeAll()
        while let share = take() { perform(share, worker: 0) }
        waitForEnd(of: shares)
        self.body = nil
    }

    /// Works until the crew ends; on its own thread.
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
        // The caller may continue as soon as it reads this.
        let count = ended.add(1, ordering: .sequentiallyConsistent).newValue
        guard count == Int(ticket.load(ordering: .relaxed) >> 32) else { return }
        if isCallerAsleep.exchange(false, ordering: .sequentiallyConsistent) { wakeCaller.signal() }
    }

    /// A separate function, which has released `body` when it returns.
    @inline(never) private func call(_ share: Int, _ worker: Int) { body?(share, worker) }

    private func waitForEnd(of shares: Int) {
        var looks = 0
        while ended.load(ordering: .acquiring) < shares {
            looks += 1
            if looks <= Self.looks { continue }
            isCallerAsleep.store(true, ordering: .sequentiallyConsistent)
            // A share that ended before the flag was set does not signal.
            if ended.load(ordering: .sequentiallyConsistent) >= shares,
                isCallerAsleep.exchange(false, ordering: .sequentiallyConsistent)
            {
                return
            }
            wakeCaller.wait()
        }
    }

    /// Sleeps until there is a pass, or the crew ends.
    private func sleep() {
        sleepers.add(1, ordering: .sequentiallyConsistent)
        let seen = ticket.load(ordering: .sequentiallyConsistent)
        let hasWork = UInt32(truncatingIfNeeded: seen) < UInt32(seen >> 32)
        if hasWork || isOver.load(ordering: .sequentiallyConsistent), leaveSleepers() { return }
        wake.wait()
    }

    /// Removes this thread from `sleepers`; false if a signal for it has already been sent.
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
