// SPDX-License-Identifier: MIT

/// Shares the thread pool out among connections: each has a queue of its own and a bounded number of jobs
/// at once, so that one with hundreds of heavy calls does not hold up the others. Belongs to the loop's thread.
final class PoolQueue {
    private var waiting: [ObjectIdentifier: [() -> Void]] = [:]
    private var running: [ObjectIdentifier: Int] = [:]
    private let jobsPerConnection: Int

    init(jobsPerConnection: Int) { self.jobsPerConnection = jobsPerConnection }

    /// Starts a job, or keeps it until one of the connection's others has finished.
    func run(for connection: AnyObject, _ start: @escaping () -> Void) {
        let key = ObjectIdentifier(connection)
        if running[key, default: 0] < jobsPerConnection {
            running[key, default: 0] += 1
            start()
        } else {
            waiting[key, default: []].append(start)
        }
    }

    func finished(for connection: AnyObject) {
        let key = ObjectIdentifier(connection)
        if var queue = waiting[key], !queue.isEmpty {
            let next = queue.removeFirst()
            waiting[key] = queue.isEmpty ? nil : queue
            next()
            return
        }
        let left = running[key, default: 1] - 1
        running[key] = left > 0 ? left : nil
    }

    /// The connection has gone: what waits is never started.
    func remove(_ connection: AnyObject) { waiting[ObjectIdentifier(connection)] = nil }

    /// Jobs that wait, of all connections.
    var depth: Int { waiting.values.reduce(0) { $0 + $1.count } }
}
