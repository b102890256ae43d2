// SPDX-License-Identifier: MIT
import SourceEngine
import Synchronization

/// Shares pool threads among users in turn, and among a user's connections in turn, so that one with hundreds of
/// heavy calls does not delay the others. Of the jobs with one subject, only one runs at a time. Safe from any
/// thread.
package final class PoolQueue: Sendable {
    /// A connection's jobs. A started job holds its lane, so that its end is counted even if the connection has
    /// closed.
    ///
    /// The mutable state is accessed only under the queue's lock, so the class may be `Sendable` although the
    /// compiler cannot check it.
    package final class Lane: @unchecked Sendable {
        fileprivate let unread: UnreadAccount
        fileprivate var user: UserKey { unread.share.key }
        /// Runs a function on the lane's loop.
        fileprivate let post: @Sendable (@escaping @Sendable () -> Void) -> Void
        fileprivate var waiting = JobLines<Job>()
        fileprivate var running = 0
        fileprivate var isReady = false
        fileprivate var isHeld = false
        fileprivate var isBlocked = false
        /// Busy subjects under which the lane is listed in `State.parked`.
        fileprivate var parkedFor: Set<PoolSubject> = []

        package init(_ unread: UnreadAccount, post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
            self.unread = unread
            self.post = post
        }
    }

    /// A job that waits for its turn. Its functions run on its lane's loop.
    fileprivate struct Job {
        let owner: ObjectIdentifier?
        let claim: (@Sendable () -> Void)?
        let start: OnLoop<() -> Void>
        let dropped: OnLoop<() -> Void>
    }

    private struct User {
        var ready: [Lane] = []
        /// Lanes that could start a job if the gate permitted it.
        var blocked: [Lane] = []
        var running = 0
        var isReady = false
    }

    private struct State {
        var users: [UserKey: User] = [:]
        var ready: [UserKey] = []
        /// Subjects of running jobs.
        var busy: Set<PoolSubject> = []
        /// For each busy subject, the lanes whose jobs all wait for busy subjects.
        var parked: [PoolSubject: [Lane]] = [:]
        var running = 0
        var depth = 0
    }

    private let state = Mutex(State())
    private let jobs: Int
    private let jobsPerUser: Int
    private let jobsPerLane: Int
    private let gate: @Sendable (_ connection: UnreadAccount, _ running: Int) -> Bool

    /// - Parameters:
    ///   - jobs: how many jobs run at once.
    ///   - jobsPerUser: how many jobs of one user run at once. Fewer than `jobs`, so that a thread is left for
    ///     others.
    ///   - jobsPerLane: how many jobs of one lane run at once.
    ///   - gate: whether a connection's job may start beside its user's running ones. It is checked again when one of these
    ///     ends, and by `retry`. It must not call the queue.
    package init(
        jobs: Int, jobsPerUser: Int, jobsPerLane: Int,
        gate: @escaping @Sendable (_ connection: UnreadAccount, _ running: Int) -> Bool = { _, _ in true }
    ) {
        self.gate = gate
        self.jobs = jobs
        self.jobsPerUser = jobsPerUser
        self.jobsPerLane = jobsPerLane
    }

    /// The number of waiting jobs, in all lanes.
    package var depth: Int { state.withLock { $0.depth } }

    /// Starts a job on its lane's loop, now or when its turn comes. Call `finished` for it once it has started, with the
    /// same subject. Called on the lane's loop.
    ///
    /// - Parameters:
    ///   - owner: `drop` removes its jobs. It must live as long as the job waits.
    ///   - claim: counts what the gate checks. Called when the job's turn comes, before the gate is asked for another job.
    ///   - dropped: called instead of `start` if the job is removed before its turn.
    package func run(
        in lane: Lane, on subject: PoolSubject? = nil, for owner: AnyObject? = nil,
        claim: (@Sendable () -> Void)? = nil, _ start: @escaping () -> Void, dropped: @escaping () -> Void = {}
    ) {
        let job = Job(
            owner: owner.map(ObjectIdentifier.init), claim: claim, start: OnLoop(start), dropped: OnLoop(dropped))
        launch(from: lane) { state in
            lane.waiting.append(job, on: subject)
            state.depth += 1
            makeReady(lane, &state)
        }
    }

    /// Records the end of a started job. Called on the lane's loop.
    package func finished(in lane: Lane, on subject: PoolSubject? = nil) {
        launch(from: lane) { state in
            lane.running -= 1
            state.running -= 1
            state.users[lane.user]?.running -= 1
            if let subject { free(subject, &state) }
            // Lanes that the gate stopped before come first.
            unblock(lane.user, &state)
            makeReady(lane, &state)
            makeReady(lane.user, &state)
            forgetIfIdle(lane.user, &state)
        }
    }

    /// Starts no more jobs of a lane while its client has answers to read. Called on the lane's loop.
    package func hold(_ lane: Lane, _ isHeld: Bool) {
        launch(from: lane) { state in
            guard lane.isHeld != isHeld else { return }
            lane.isHeld = isHeld
            makeReady(lane, &state)
        }
    }

    /// Checks the gate again for the jobs that it stopped. Safe from any thread.
    package func retry() {
        launch(from: nil) { state in
            for key in state.users.filter({ !$0.value.blocked.isEmpty }).keys {
                unblock(key, &state)
                forgetIfIdle(key, &state)
            }
        }
    }

    /// Removes an owner's waiting jobs. Called on the lane's loop. O(waiting jobs of the lane).
    package func drop(jobsOf owner: AnyObject, in lane: Lane) {
        let owner = ObjectIdentifier(owner)
        drop(from: lane) { $0.owner == owner }
    }

    /// The connection has closed: removes the lane's waiting jobs. Called on the lane's loop.
    package func clear(_ lane: Lane) { drop(from: lane) { _ in true } }

    private func drop(from lane: Lane, where isDropped: (Job) -> Bool) {
        let jobs = state.withLock { state in
            let jobs = lane.waiting.removeAll(where: isDropped)
            state.depth -= jobs.count
            return jobs
        }
        for job in jobs { job.dropped.value() }
    }

    /// Applies a change and starts the jobs that can start: those of `lane` at once, other lanes' jobs on their
    /// own loops.
    private func launch(from lane: Lane?, _ change: (inout State) -> Void) {
        var own: [OnLoop<() -> Void>] = []
        var others: [(Lane, OnLoop<() -> Void>)] = []
        state.withLock { state in
            change(&state)
            while state.running < jobs, let (next, job) = takeNext(&state) {
                if next === lane { own.append(job.start) } else { others.append((next, job.start)) }
            }
        }
        for (lane, job) in others { lane.post { job.value() } }
        for job in own { job.value() }
    }

    private func takeNext(_ state: inout State) -> (Lane, Job)? {
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
            job.claim?()
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
            if gate(lane.unread, user.running) { return lane }
            lane.isBlocked = true
            user.blocked.append(lane)
        }
        return nil
    }

    /// Checks the gate again for the lanes of a user that it stopped. O(these lanes).
    private func unblock(_ key: UserKey, _ state: inout State) {
        guard let blocked = state.users[key]?.blocked, !blocked.isEmpty else { return }
        state.users[key]?.blocked = []
        for lane in blocked {
            lane.isBlocked = false
            makeReady(lane, &state)
        }
    }

    /// Queues a lane for its turn, which is when the gate is checked.
    private func makeReady(_ lane: Lane, _ state: inout State) {
        guard !lane.isReady, !lane.isBlocked, canStart(lane, &state) else { return }
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
        guard let user = state.users[key], user.running == 0, user.ready.isEmpty, user.blocked.isEmpty,
            !user.isReady
        else { return }
        state.users[key] = nil
    }

    private func canStart(_ lane: Lane, _ state: inout State) -> Bool {
        guard !lane.waiting.isEmpty, lane.running < jobsPerLane, !lane.isHeld else { return false }
        if lane.waiting.hasJob(besides: state.busy) { return true }
        park(lane, &state)
        return false
    }

    /// Records that a lane's jobs all wait for busy subjects.
    private func park(_ lane: Lane, _ state: inout State) {
        for subject in lane.waiting.subjects where lane.parkedFor.insert(subject).inserted {
            state.parked[subject, default: []].append(lane)
        }
    }

    /// A subject's job has ended: makes the lanes that waited for it ready. O(number of these lanes).
    private func free(_ subject: PoolSubject, _ state: inout State) {
        state.busy.remove(subject)
        for lane in state.parked.removeValue(forKey: subject) ?? [] {
            lane.parkedFor.remove(subject)
            makeReady(lane, &state)
        }
    }
}

/// What only one pool job may work on at a time. A second job would occupy a thread while it waits for the first,
/// so a source whose disk hangs would take all threads.
package enum PoolSubject: Hashable, Sendable {
    /// The data of a source, which is changed by one job at a time.
    case data(SourceName)
    /// A file that is read for a source before its data change.
    case file(SourceName)
}

/// Waiting jobs: one line for each subject, and one for jobs without a subject. Each line keeps its order; the
/// lines take turns.
struct JobLines<Job> {
    private var lines: [PoolSubject?: [Job]] = [:]
    /// The subjects of the lines, next first.
    private var order: [PoolSubject?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The subjects of waiting jobs.
    var subjects: some Sequence<PoolSubject> { order.lazy.compactMap { $0 } }

    mutating func append(_ job: Job, on subject: PoolSubject?) {
        count += 1
        if lines[subject] == nil { order.append(subject) }
        lines[subject, default: []].append(job)
    }

    /// Whether a job can start while some subjects are busy. O(subjects).
    func hasJob(besides busy: Set<PoolSubject>) -> Bool { order.contains { Self.isFree($0, busy) } }

    /// Takes the next job that can start while some subjects are busy.
    mutating func takeFirst(besides busy: Set<PoolSubject>) -> (job: Job, subject: PoolSubject?)? {
        guard let index = order.firstIndex(where: { Self.isFree($0, busy) }) else { return nil }
        let subject = order.remove(at: index)
        guard let job = lines[subject]?.removeFirst() else { return nil }
        count -= 1
        if lines[subject]?.isEmpty == true { lines[subject] = nil } else { order.append(subject) }
        return (job, subject)
    }

    /// Takes the jobs that match. O(jobs).
    mutating func removeAll(where isRemoved: (Job) -> Bool) -> [Job] {
        var removed: [Job] = []
        for (subject, line) in lines where line.contains(where: isRemoved) {
            removed += line.filter(isRemoved)
            let kept = line.filter { !isRemoved($0) }
            lines[subject] = kept.isEmpty ? nil : kept
        }
        count -= removed.count
        order.removeAll { lines[$0] == nil }
        return removed
    }

    private static func isFree(_ subject: PoolSubject?, _ busy: Set<PoolSubject>) -> Bool {
        subject.map { !busy.contains($0) } ?? true
    }
}

/// The result that a pool job leaves for the loop's thread.
final class PoolOutcome<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    /// Returns the value, which is not held here any more.
    func take() -> Value? {
        state.withLock { value in
            defer { value = nil }
            return value
        }
    }

    func set(_ value: Value) { state.withLock { $0 = value } }
}
