// SPDX-License-Identifier: MIT

/// Shares the thread pool out among connections: each has a lane of its own and a bounded number of jobs at
/// once, and lanes take turns, so that one with hundreds of heavy calls does not hold up the others. Belongs
/// to the loop's thread.
package final class PoolQueue {
    /// A connection's jobs. Whoever starts a job keeps its lane, so that its end is counted even where the
    /// connection has gone.
    package final class Lane {
        fileprivate var waiting: [() -> Void] = []
        fileprivate var running = 0
        fileprivate var isReady = false
        package fileprivate(set) var isHeld = false

        package init() {}
    }

    private var ready: [Lane] = []
    private var running = 0
    private let jobs: Int
    private let jobsPerLane: Int
    /// Jobs that wait, of all lanes.
    package private(set) var depth = 0

    /// - Parameters:
    ///   - jobs: how many run at once.
    ///   - jobsPerLane: how many of one lane.
    package init(jobs: Int, jobsPerLane: Int) {
        self.jobs = jobs
        self.jobsPerLane = jobsPerLane
    }

    /// Starts a job now or in its turn. `finished` is to be called for it, once.
    package func run(in lane: Lane, _ start: @escaping () -> Void) {
        lane.waiting.append(start)
        depth += 1
        advance(lane)
    }

    /// A job that was started has ended.
    package func finished(in lane: Lane) {
        lane.running -= 1
        running -= 1
        advance(lane)
    }

    /// Starts nothing more of a lane for as long as its client has answers to read.
    package func hold(_ lane: Lane, _ isHeld: Bool) {
        guard lane.isHeld != isHeld else { return }
        lane.isHeld = isHeld
        if !isHeld { advance(lane) }
    }

    /// The connection has gone: what waits is never started.
    package func clear(_ lane: Lane) {
        depth -= lane.waiting.count
        lane.waiting = []
    }

    private func advance(_ lane: Lane) {
        makeReady(lane)
        while running < jobs, !ready.isEmpty {
            let next = ready.removeFirst()
            next.isReady = false
            guard canStart(next) else { continue }
            next.running += 1
            running += 1
            depth -= 1
            let start = next.waiting.removeFirst()
            makeReady(next)
            start()
        }
    }

    private func makeReady(_ lane: Lane) {
        guard !lane.isReady, canStart(lane) else { return }
        lane.isReady = true
        ready.append(lane)
    }

    private func canStart(_ lane: Lane) -> Bool {
        !lane.waiting.isEmpty && lane.running < jobsPerLane && !lane.isHeld
    }
}
