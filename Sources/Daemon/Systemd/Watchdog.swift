// SPDX-License-Identifier: MIT
import EventLoop
import Synchronization

/// Reports to the service manager that the daemon is alive, as long as all loops and the pool respond.
/// Belongs to the first loop's thread.
final class Watchdog {
    private var timer: Timer?
    private let pending: Pending

    /// Which loops have not responded, and whether the pool has not. Safe from any thread.
    private final class Pending: Sendable {
        private let parts = Mutex<Set<Int>>([])
        var isEmpty: Bool { parts.withLock { $0.isEmpty } }
        func expect(_ all: Range<Int>) { parts.withLock { $0 = Set(all) } }
        func answered(_ part: Int) { _ = parts.withLock { $0.remove(part) } }
    }

    /// - Parameters:
    ///   - interval: the interval between two checks, in milliseconds.
    ///   - notify: called after each check to which all have responded.
    init(loop: EventLoop, doors: DoorGroup, interval: UInt64, notify: @escaping () -> Void) {
        let pending = Pending()
        self.pending = pending
        let loops = doors.loopCount
        func ask() {
            pending.expect(0..<loops + 1)
            doors.onEveryLoop { pending.answered($0) }
            loop.work({}, completion: { pending.answered(loops) })
        }
        ask()
        timer = Timer(on: loop, delay: interval, every: interval) {
            // While a part has not responded, no further check is sent: it would not respond to that either.
            guard pending.isEmpty else { return }
            notify()
            ask()
        }
        timer?.unreference()
    }
}
