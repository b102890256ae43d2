// SPDX-License-Identifier: MIT
import Synchronization

/// The shares of a pass that nobody has taken yet.
///
/// Each worker takes the shares of its own part first, in every pass the same part: what one pass has written for a share is then
/// still in the cache of the processor that reads it in the next. A worker without shares takes those of others.
///
/// Invariant: `tickets` points to an atomic for each worker, during this object's lifetime. So it may be shared.
final class ShareTickets: @unchecked Sendable {
    /// For each worker, in a cache line of its own: the end of its part in the upper half, the next share to take in the lower.
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
