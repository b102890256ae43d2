// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import Synchronization

/// Threads for jobs that read disks, any of which may not answer.
///
/// At most `width` jobs run at once. A job whose thread has used no processor time for about a tenth of a second waits
/// for a disk: it no longer counts, and another begins beside it. So a disk that does not answer delays only the jobs
/// that read it. Safe from any thread.
package final class DiskThreads: Sendable {
    private struct Worker {
        /// The processor time of its thread; nil until it runs.
        var clock: ThreadClock?
        /// What the clock showed at the last look.
        var seen: UInt64?
        /// Whether its job waits for a disk.
        var isStalled = false

        /// Looks whether the thread has worked since the last look. It is stalled if it has not.
        mutating func look(_ leastUse: UInt64) {
            guard let now = clock?.now() else { return }
            if let seen { isStalled = now < seen + leastUse }
            seen = now
        }
    }

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        /// The first of `jobs` that has not begun.
        var next = 0
        var workers: [Int: Worker] = [:]
        var lastNumber = 0
        var isHeld = false
        var isWatched = false

        var hasJobs: Bool { next < jobs.count }
        var active: Int { workers.values.count { !$0.isStalled } }
    }

    private let width: Int
    private let state = Mutex(State())
    private let all = DispatchGroup()

    /// So many threads may exist at once. A service has a limited number (`TasksMax=`).
    private static let mostThreads = 64
    /// The interval at which stalled jobs are looked for, in microseconds.
    private static let interval: UInt32 = 50_000
    /// A thread that has used less in an interval waits, in nanoseconds.
    private static let leastUse: UInt64 = 100_000

    /// - Parameter width: how many jobs run at once, without those that wait for a disk.
    package init(width: Int) { self.width = max(1, width) }

    /// Adds a job. Jobs begin in the order in which they are added.
    package func add(_ job: @escaping @Sendable () -> Void) {
        all.enter()
        state.withLock { $0.jobs.append(job) }
        hire()
    }

    /// Lets no job begin until `resume`; for tests.
    package func hold() { state.withLock { $0.isHeld = true } }

    package func resume() {
        state.withLock { $0.isHeld = false }
        hire()
    }

    /// Waits until all jobs have ended. Blocks.
    package func wait() { all.wait() }

    /// Starts threads for jobs that may begin.
    private func hire() {
        let (numbers, mustWatch) = state.withLock { state -> ([Int], Bool) in
            var numbers: [Int] = []
            guard !state.isHeld else { return ([], false) }
            var left = state.jobs.count - state.next
            while left > 0, state.active < width, state.workers.count < Self.mostThreads {
                state.lastNumber += 1
                state.workers[state.lastNumber] = Worker()
                numbers.append(state.lastNumber)
                left -= 1
            }
            let mustWatch = state.hasJobs && !state.isWatched
            if mustWatch { state.isWatched = true }
            return (numbers, mustWatch)
        }
        for number in numbers { BackgroundThread.run { self.work(number) } }
        if mustWatch { BackgroundThread.run { self.watch() } }
    }

    private func work(_ number: Int) {
        let clock = ThreadClock.ofThisThread
        state.withLock { $0.workers[number]?.clock = clock }
        while let job = take(number) {
            job()
            all.leave()
        }
    }

    /// The next job of a thread; nil if it is to end.
    private func take(_ number: Int) -> (@Sendable () -> Void)? {
        state.withLock { state in
            state.workers[number]?.isStalled = false
            state.workers[number]?.seen = nil
            guard state.hasJobs, !state.isHeld, state.active <= width else {
                state.workers[number] = nil
                return nil
            }
            defer {
                state.next += 1
                if !state.hasJobs { (state.jobs, state.next) = ([], 0) }
            }
            return state.jobs[state.next]
        }
    }

    /// Finds stalled jobs and lets others begin, while there are others.
    private func watch() {
        while true {
            usleep(Self.interval)
            let goesOn = state.withLock { state in
                guard state.hasJobs, !state.isHeld else {
                    state.isWatched = false
                    return false
                }
                for number in state.workers.keys { state.workers[number]?.look(Self.leastUse) }
                return true
            }
            guard goesOn else { return }
            hire()
        }
    }
}
