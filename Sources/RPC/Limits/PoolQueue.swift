// SPDX-License-Identifier: MIT
import SourceEngine
import Synchronization

/// Shares pool threads among users in turn, and among a user's connections in turn, so that one with hundreds of heavy
/// calls does not delay the others. Of the jobs with one subject, only one runs at a time. Safe from any thread.
package final class PoolQueue: Sendable {
    /// A connection's jobs. A started job holds its job queue, so that its end is counted even if the connection has
    /// closed.
    ///
    /// The mutable state is accessed only under the queue's lock, so the class may be `Sendable` although the
    /// compiler cannot check it.
    package final class JobQueue: @unchecked Sendable {
        fileprivate let unread: UnreadAccount
        fileprivate var user: UserKey { unread.share.key }
        /// Runs a function on the job queue's loop.
        fileprivate let post: @Sendable (@escaping @Sendable () -> Void) -> Void
        fileprivate var waiting = JobLines<Job>()
        fileprivate var running = 0
        fileprivate var isReady = false
        fileprivate var isHeld = false
        fileprivate var isBlocked = false
        /// Busy subjects under which the job queue is listed in `State.parked`.
        fileprivate var parkedFor: Set<PoolSubject> = []

        package init(_ unread: UnreadAccount, post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
            self.unread = unread
            self.post = post
        }
    }

    /// A job that waits for its turn. Its functions run on its job queue's loop.
    fileprivate struct Job {
        let owner: ObjectIdentifier?
        let claim: (@Sendable () -> Void)?
        let start: OnLoop<() -> Void>
        let dropped: OnLoop<() -> Void>
    }

    private struct User {
        var ready: [JobQueue] = []
        /// Job queues that could start a job if the gate permitted it.
        var blocked: [JobQueue] = []
        var running = 0
        var isReady = false
    }

    private struct State {
        var users: [UserKey: User] = [:]
        var ready: [UserKey] = []
        /// Subjects of running jobs.
        var busy: Set<PoolSubject> = []
        /// For each busy subject, the job queues whose jobs all wait for busy subjects.
        var parked: [PoolSubject: [JobQueue]] = [:]
        var running = 0
        var depth = 0
    }

    private let state = Mutex(State())
    private let jobs: Int
    private let jobsPerUser: Int
    private let jobsPerQueue: Int
    private let gate: @Sendable (_ connection: UnreadAccount, _ running: Int) -> Bool

    /// - Parameters:
    ///   - jobs: how many jobs run at once.
    ///   - jobsPerUser: how many jobs of one user run at once. Fewer than `jobs`, so that a thread is left for others.
    ///   - jobsPerQueue: how many jobs of one job queue run at once.
    ///   - gate: whether a connection's job may start beside its user's running ones. It is checked again when one of
    ///     these
    ///     ends, and by `retry`. It must not call the queue.
    package init(
        jobs: Int, jobsPerUser: Int, jobsPerQueue: Int,
        gate: @escaping @Sendable (_ connection: UnreadAccount, _ running: Int) -> Bool = { _, _ in true }
    ) {
        self.gate = gate
        self.jobs = jobs
        self.jobsPerUser = jobsPerUser
        self.jobsPerQueue = jobsPerQueue
    }

    /// The number of waiting jobs, in all job queues.
    package var depth: Int { state.withLock { $0.depth } }

    /// Starts a job on its job queue's loop, now or when its turn comes. Call `finished` for it once it has started,
    /// with the same subject. Called on the job queue's loop.
    ///
    /// - Parameters:
    ///   - owner: `drop` removes its jobs. It must live as long as the job waits.
    ///   - claim: counts what the gate checks. Called when the job's turn comes, before the gate is asked for another
    ///     job.
    ///   - dropped: called instead of `start` if the job is removed before its turn.
    package func run(
        in jobQueue: JobQueue, on subject: PoolSubject? = nil, for owner: AnyObject? = nil,
        claim: (@Sendable () -> Void)? = nil, _ start: @escaping () -> Void, dropped: @escaping () -> Void = {}
    ) {
        let job = Job(
            owner: owner.map(ObjectIdentifier.init), claim: claim, start: OnLoop(start), dropped: OnLoop(dropped))
        launch(from: jobQueue) { state in
            jobQueue.waiting.append(job, on: subject)
            state.depth += 1
            makeReady(jobQueue, &state)
        }
    }

    /// Records the end of a started job. Called on the job queue's loop.
    package func finished(in jobQueue: JobQueue, on subject: PoolSubject? = nil) {
        launch(from: jobQueue) { state in
            jobQueue.running -= 1
            state.running -= 1
            state.users[jobQueue.user]?.running -= 1
            if let subject { free(subject, &state) }
            // Job queues that the gate stopped before come first.
            unblock(jobQueue.user, &state)
            makeReady(jobQueue, &state)
            makeReady(jobQueue.user, &state)
            forgetIfIdle(jobQueue.user, &state)
        }
    }

    /// Starts no more jobs of a job queue while its client has answers to read. Called on the job queue's loop.
    package func hold(_ jobQueue: JobQueue, _ isHeld: Bool) {
        launch(from: jobQueue) { state in
            guard jobQueue.isHeld != isHeld else { return }
            jobQueue.isHeld = isHeld
            makeReady(jobQueue, &state)
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

    /// Removes an owner's waiting jobs. Called on the job queue's loop. O(waiting jobs of the job queue).
    package func drop(jobsOf owner: AnyObject, in jobQueue: JobQueue) {
        let owner = ObjectIdentifier(owner)
        drop(from: jobQueue) { $0.owner == owner }
    }

    /// The connection has closed: removes the job queue's waiting jobs. Called on the job queue's loop.
    package func clear(_ jobQueue: JobQueue) { drop(from: jobQueue) { _ in true } }

    private func drop(from jobQueue: JobQueue, where isDropped: (Job) -> Bool) {
        let jobs = state.withLock { state in
            let jobs = jobQueue.waiting.removeAll(where: isDropped)
            state.depth -= jobs.count
            return jobs
        }
        for job in jobs { job.dropped.value() }
    }

    /// Applies a change and starts the jobs that can start: those of `jobQueue` at once, other job queues' jobs on
    /// their own loops.
    private func launch(from jobQueue: JobQueue?, _ change: (inout State) -> Void) {
        var own: [OnLoop<() -> Void>] = []
        var others: [(JobQueue, OnLoop<() -> Void>)] = []
        state.withLock { state in
            change(&state)
            while state.running < jobs, let (next, job) = takeNext(&state) {
                if next === jobQueue { own.append(job.start) } else { others.append((next, job.start)) }
            }
        }
        for (jobQueue, job) in others { jobQueue.post { job.value() } }
        for job in own { job.value() }
    }

    private func takeNext(_ state: inout State) -> (JobQueue, Job)? {
        var left = state.ready.count
        while left > 0 {
            left -= 1
            let key = state.ready.removeFirst()
            state.users[key]?.isReady = false
            guard var user = state.users[key], user.running < jobsPerUser else { continue }
            guard let jobQueue = nextJobQueue(&user, &state) else {
                state.users[key] = user
                forgetIfIdle(key, &state)
                continue
            }
            guard let (job, subject) = jobQueue.waiting.takeFirst(besides: state.busy) else { continue }
            job.claim?()
            if let subject { state.busy.insert(subject) }
            user.running += 1
            state.users[key] = user
            jobQueue.running += 1
            state.running += 1
            state.depth -= 1
            makeReady(jobQueue, &state)
            makeReady(key, &state)
            return (jobQueue, job)
        }
        return nil
    }

    private func nextJobQueue(_ user: inout User, _ state: inout State) -> JobQueue? {
        while !user.ready.isEmpty {
            let jobQueue = user.ready.removeFirst()
            jobQueue.isReady = false
            guard canStart(jobQueue, &state) else { continue }
            if gate(jobQueue.unread, user.running) { return jobQueue }
            jobQueue.isBlocked = true
            user.blocked.append(jobQueue)
        }
        return nil
    }

    /// Checks the gate again for the job queues of a user that it stopped. O(these job queues).
    private func unblock(_ key: UserKey, _ state: inout State) {
        guard let blocked = state.users[key]?.blocked, !blocked.isEmpty else { return }
        state.users[key]?.blocked = []
        for jobQueue in blocked {
            jobQueue.isBlocked = false
            makeReady(jobQueue, &state)
        }
    }

    /// Queues a job queue for its turn, which is when the gate is checked.
    private func makeReady(_ jobQueue: JobQueue, _ state: inout State) {
        guard !jobQueue.isReady, !jobQueue.isBlocked, canStart(jobQueue, &state) else { return }
        jobQueue.isReady = true
        state.users[jobQueue.user, default: User()].ready.append(jobQueue)
        makeReady(jobQueue.user, &state)
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

    private func canStart(_ jobQueue: JobQueue, _ state: inout State) -> Bool {
        guard !jobQueue.waiting.isEmpty, jobQueue.running < jobsPerQueue, !jobQueue.isHeld else { return false }
        if jobQueue.waiting.hasJob(besides: state.busy) { return true }
        park(jobQueue, &state)
        return false
    }

    /// Records that a job queue's jobs all wait for busy subjects.
    private func park(_ jobQueue: JobQueue, _ state: inout State) {
        for subject in jobQueue.waiting.subjects where jobQueue.parkedFor.insert(subject).inserted {
            state.parked[subject, default: []].append(jobQueue)
        }
    }

    /// A subject's job has ended: makes the job queues that waited for it ready. O(number of these job queues).
    private func free(_ subject: PoolSubject, _ state: inout State) {
        state.busy.remove(subject)
        for jobQueue in state.parked.removeValue(forKey: subject) ?? [] {
            jobQueue.parkedFor.remove(subject)
            makeReady(jobQueue, &state)
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
    private let state: Mutex<Value?>

    init(_ value: Value? = nil) { state = Mutex(value) }

    /// Returns the value, which is not held here any more.
    func take() -> Value? {
        state.withLock { value in
            defer { value = nil }
            return value
        }
    }

    func set(_ value: Value) { state.withLock { $0 = value } }
}
