// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization

/// Threads for work that consists of many short passes. Between two passes they stay awake for
/// about a hundred microseconds, since waking a thread takes about as long as a short pass.
///
/// The threads start with the first pass of several shares and end with this object. They have the priority of the
/// thread that runs the first pass.
final class AwakeThreads: Sendable {
    /// The number of threads, including the caller's.
    let threads: Int
    private let board: Board
    private let isStarted = Atomic(false)
    private let isBusy = Atomic(false)

    init(threads: Int) {
        self.threads = max(1, threads)
        board = Board(workers: self.threads)
    }

    deinit { board.end() }

    /// Calls `body` once for each share below `shares`, in parallel, and waits for all. In every pass a worker begins
    /// with the same part of the shares.
    ///
    /// - Parameter body: receives the share and the number of its worker, below `threads`. No two calls at the
    ///   same time have the same worker. The call for a share must not touch what another share's call writes.
    func run(_ shares: Int, _ body: (_ share: Int, _ worker: Int) -> Void) {
        // A nested or concurrent pass runs on its caller's thread only.
        guard shares > 1, threads > 1, shares <= ShareTickets.mostShares,
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

/// The state that the threads share.
///
/// Invariant: `body` is written only after all shares of the last pass have ended and before any of the next can be
/// taken. A thread reads it after it has taken a share and before it has reported that share's end. So this may be
/// shared.
private final class Board: @unchecked Sendable {
    /// How often a thread polls for work, or for its end, before it sleeps: about a hundred microseconds. The end of a
    /// pass is awaited for as long as its last share takes, and a thread that slept is late for the next. It does not
    /// yield, since the scheduler would then prefer other processes for several milliseconds.
    #if DEBUG
        // Polling takes a hundred times as long without optimization.
        private static let looks = 1 << 9
    #else
        private static let looks = 1 << 17
    #endif

    private var body: ((Int, Int) -> Void)?
    private let tickets: ShareTickets
    /// The number of shares of the pass.
    private let shares = Atomic(0)
    private let ended = Atomic(0)
    private let sleepers = Atomic(0)
    private let isCallerAsleep = Atomic(false)
    private let isOver = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)
    private let wakeCaller = DispatchSemaphore(value: 0)

    init(workers: Int) { tickets = ShareTickets(workers: workers) }

    /// Runs a pass; on the caller's thread.
    func run(_ shares: Int, _ body: @escaping (Int, Int) -> Void) {
        self.body = body
        ended.store(0, ordering: .relaxed)
        self.shares.store(shares, ordering: .relaxed)
        tickets.offer(shares)
        wakeAll()
        while let share = tickets.take(for: 0) { perform(share, worker: 0) }
        waitForEnd(of: shares)
        self.body = nil
    }

    /// Works until `end`; on its own thread.
    func work(as worker: Int) {
        while true {
            var looks = 0
            while !isOver.load(ordering: .relaxed), looks < Self.looks {
                if let share = tickets.take(for: worker) {
                    perform(share, worker: worker)
                    looks = 0
                } else {
                    looks += tickets.workers
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

    private func perform(_ share: Int, worker: Int) {
        call(share, worker)
        // The caller may continue as soon as it reads this.
        let count = ended.add(1, ordering: .sequentiallyConsistent).newValue
        guard count == shares.load(ordering: .relaxed) else { return }
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

    /// Sleeps until there is a pass, or `end`.
    private func sleep() {
        sleepers.add(1, ordering: .sequentiallyConsistent)
        if tickets.hasShares || isOver.load(ordering: .sequentiallyConsistent), leaveSleepers() { return }
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

/// The shares of a pass that nobody has taken yet.
///
/// Each worker takes the shares of its own part first, in every pass the same part: what one pass has written for a
/// share is then still in the cache of the processor that reads it in the next. A worker without shares takes those of
/// others.
///
/// Invariant: `tickets` points to an atomic for each worker, during this object's lifetime. So it may be shared.
final class ShareTickets: @unchecked Sendable {
    /// For each worker, in a cache line of its own: the end of its part in the upper half, the next share to take in
    /// the lower.
    private let tickets: UnsafeMutablePointer<Atomic<UInt64>>
    let workers: Int

    static let mostShares = Int(Int32.max)
    /// Two lines of 64 bytes, since processors fetch pairs of them.
    private static let stride = 16

    init(workers: Int) {
        self.workers = workers
        tickets = .allocate(capacity: workers * Self.stride)
        for index in 0..<workers * Self.stride { (tickets + index).initialize(to: Atomic(0)) }
    }

    deinit {
        tickets.deinitialize(count: workers * Self.stride)
        tickets.deallocate()
    }

    /// Offers the shares below `shares`, at most `mostShares`. All shares offered before must have been taken.
    func offer(_ shares: Int) {
        for worker in 0..<workers {
            let (start, end) = (shares * worker / workers, shares * (worker + 1) / workers)
            ticket(worker).pointee.store(UInt64(end) << 32 | UInt64(start), ordering: .sequentiallyConsistent)
        }
    }

    /// A share for a worker; nil if all are taken.
    func take(for worker: Int) -> Int? {
        for other in worker..<workers + worker {
            if let share = take(from: other < workers ? other : other - workers) { return share }
        }
        return nil
    }

    private func take(from worker: Int) -> Int? {
        var seen = ticket(worker).pointee.load(ordering: .acquiring)
        while Self.hasShare(seen) {
            let (isTaken, now) = ticket(worker).pointee.compareExchange(
                expected: seen, desired: seen + 1, ordering: .acquiringAndReleasing)
            if isTaken { return Int(UInt32(truncatingIfNeeded: seen)) }
            seen = now
        }
        return nil
    }

    /// Whether there are shares to take.
    var hasShares: Bool {
        (0..<workers).contains { Self.hasShare(ticket($0).pointee.load(ordering: .sequentiallyConsistent)) }
    }

    private static func hasShare(_ ticket: UInt64) -> Bool {
        UInt32(truncatingIfNeeded: ticket) < UInt32(ticket >> 32)
    }

    private func ticket(_ worker: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
        tickets + worker * Self.stride
    }
}
