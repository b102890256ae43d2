// SPDX-License-Identifier: MIT
import Synchronization

/// Shares some threads of the pool out: among users in turn, and among a user's connections in turn, so that one with
/// hundreds of heavy calls does not hold up the others. Of jobs with the same subject one runs at a time. Safe from any
/// thread.
package final class PoolQueue: Sendable {
    /// A connection's jobs. Whoever starts a job keeps its lane, so that its end is counted even if the
    /// connection has gone. Its state belongs to the queue's lock; that is why it may be shared.
    package final class Lane: @unchecked Sendable {
        fileprivate let share: UserShare
        fileprivate var user: UserKey { share.key }
        /// Runs a function on the lane's loop.
        fileprivate let post: @Sendable (@escaping @Sendable () -> Void) -> Void
        fileprivate var waiting = JobLines<OnLoop<() -> Void>>()
        fileprivate var running = 0
        fileprivate var isReady = false
        fileprivate var isHeld = false
        fileprivate var isBlocked = false
        /// Busy subjects for which it is in `State.parked`.
        fileprivate var parkedFor: Set<PoolSubject> = []

        package init(
            _ share: UserShare, post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
        ) {
            self.share = share
            self.post = post
        }
    }

    private struct User {
        var ready: [Lane] = []
        var running = 0
        var isReady = false
    }

    private struct State {
        var users: [UserKey: User] = [:]
        var ready: [UserKey] = []
        /// Lanes that could start a job if the gate let them.
        var blocked: [Lane] = []
        /// Subjects of jobs that run.
        var busy: Set<PoolSubject> = []
        /// By busy subject, the lanes whose jobs all wait for busy subjects.
        var parked: [PoolSubject: [Lane]] = [:]
        var running = 0
        var depth = 0
    }

    private let state = Mutex(State())
    private let jobs: Int
    private let jobsPerUser: Int
    private let jobsPerLane: Int
    private let gate: @Sendable (UserShare) -> Bool

    /// - Parameters:
    ///   - jobs: how many run at once.
    ///   - jobsPerUser: how many of one user. Fewer than `jobs`, so that there is a thread left for others.
    ///   - jobsPerLane: how many of one lane.
    ///   - gate: whether a user's jobs may start now; asked again by `retry`.
    package init(
        jobs: Int, jobsPerUser: Int, jobsPerLane: Int,
        gate: @escaping @Sendable (UserShare) -> Bool = { _ in true }
    ) {
        self.gate = gate
        self.jobs = jobs
        self.jobsPerUser = jobsPerUser
        self.jobsPerLane = jobsPerLane
    }

    /// Jobs that wait, of all lanes.
    package var depth: Int { state.withLock { $0.depth } }

    /// Starts a job now or when it is the next, on its lane's loop. `finished` is to be called for it, once, with the same
    /// subject. On the lane's loop.
    package func run(in lane: Lane, on subject: PoolSubject? = nil, _ start: @escaping () -> Void) {
        let job = OnLoop(start)
        launch(from: lane) { state in
            lane.waiting.append(job, on: subject)
            state.depth += 1
            makeReady(lane, &state)
        }
    }

    /// A job that was started has ended. On the lane's loop.
    package func finished(in lane: Lane, on subject: PoolSubject? = nil) {
        launch(from: lane) { state in
            lane.running -= 1
            state.running -= 1
            state.users[lane.user]?.running -= 1
            if let subject { free(subject, &state) }
            makeReady(lane, &state)
            makeReady(lane.user, &state)
            forgetIfIdle(lane.user, &state)
        }
    }

    /// Starts nothing more of a lane for as long as its client has answers to read. On the lane's loop.
    package func hold(_ lane: Lane, _ isHeld: Bool) {
        launch(from: lane) { state in
            guard lane.isHeld != isHeld else { return }
            lane.isHeld = isHeld
            makeReady(lane, &state)
        }
    }

    /// Asks the gate again about the jobs that it did not let start. On any thread.
    package func retry() {
        launch(from: nil) { state in
            let blocked = state.blocked
            state.blocked = []
            for lane in blocked {
                lane.isBlocked = false
                makeReady(lane, &state)
            }
        }
    }

    /// The connection has gone: what waits is never started.
    package func clear(_ lane: Lane) {
        state.withLock { state in
            state.depth -= lane.waiting.count
            lane.waiting = JobLines()
        }
    }

    /// Starts what can be started after a change: on the lane's own loop at once, elsewhere by way of its loop.
    private func launch(from lane: Lane?, _ change: (inout State) -> Void) {
        var own: [OnLoop<() -> Void>] = []
        var others: [(Lane, OnLoop<() -> Void>)] = []
        state.withLock { state in
            change(&state)
            while state.running < jobs, let (next, job) = takeNext(&state) {
                if next === lane { own.append(job) } else { others.append((next, job)) }
            }
        }
        for (lane, job) in others { lane.post { job.value() } }
        for job in own { job.value() }
    }

    private func takeNext(_ state: inout State) -> (Lane, OnLoop<() -> Void>)? {
        var left = state.ready.count
        while left > 0 {
            left -= 1
            let key = state.ready.removeFirst()
            state.users[key]?.isReady = false
            guard var user = state.users[key], user.running < jobsPerUser else { continue }
            guard let lane = nextLane(&user, &state) else {
                state.users[key] = user
                forgetIfIdle(key, &state)
                continue
            }
            guard let (job, subject) = lane.waiting.takeFirst(besides: state.busy) else { continue }
            if let subject { state.busy.insert(subject) }
            user.running += 1
            state.users[key] = user
            lane.running += 1
            state.running += 1
            state.depth -= 1
            makeReady(lane, &state)
            makeReady(key, &state)
            return (lane, job)
        }
        return nil
    }

    private func nextLane(_ user: inout User, _ state: inout State) -> Lane? {
        while !user.ready.isEmpty {
            let lane = user.ready.removeFirst()
            lane.isReady = false
            guard canStart(lane, &state) else { continue }
            if gate(lane.share) { return lane }
            lane.isBlocked = true
            state.blocked.append(lane)
        }
        return nil
    }

    private func makeReady(_ lane: Lane, _ state: inout State) {
        guard !lane.isReady, !lane.isBlocked, canStart(lane, &state) else { return }
        guard gate(lane.share) else {
            lane.isBlocked = true
            state.blocked.append(lane)
            return
        }
        lane.isReady = true
        state.users[lane.user, default: User()].ready.append(lane)
        makeReady(lane.user, &state)
    }

    private func makeReady(_ key: UserKey, _ state: inout State) {
        guard let user = state.users[key], !user.isReady, !user.ready.isEmpty, user.running < jobsPerUser
        else { return }
        state.users[key]?.isReady = true
        state.ready.append(key)
    }

    private func forgetIfIdle(_ key: UserKey, _ state: inout State) {
        guard let user = state.users[key], user.running == 0, user.ready.isEmpty, !user.isReady else {
            return
        }
        state.users[key] = nil
    }

    private func canStart(_ lane: Lane, _ state: inout State) -> Bool {
        guard !lane.waiting.isEmpty, lane.running < jobsPerLane, !lane.isHeld else { return false }
        if lane.waiting.hasJob(besides: state.busy) { return true }
        park(lane, &state)
        return false
    }

    /// Notes that a lane's jobs all wait for busy subjects.
    private func park(_ lane: Lane, _ state: inout State) {
        for subject in lane.waiting.subjects where lane.parkedFor.insert(subject).inserted {
            state.parked[subject, default: []].append(lane)
        }
    }

    /// A subject's job has ended: the lanes that waited for it may start theirs. O(these lanes).
    private func free(_ subject: PoolSubject, _ state: inout State) {
        state.busy.remove(subject)
        for lane in state.parked.removeValue(forKey: subject) ?? [] {
            lane.parkedFor.remove(subject)
            makeReady(lane, &state)
        }
    }
}
