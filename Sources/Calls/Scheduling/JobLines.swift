// SPDX-License-Identifier: MIT

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
