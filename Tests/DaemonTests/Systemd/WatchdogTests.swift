// SPDX-License-Identifier: MIT
import RPC
import Dispatch
import EventLoop
import Glibc
import Testing

@testable import Daemon

@Suite("Watchdog") struct WatchdogTests {
    /// What the loop's callbacks count. Belongs to the loop's thread.
    private final class Counts {
        var ticks = 0
        var notices = 0
        var noticesWhileHeld: Int?
    }

    /// Runs a watchdog over two loops. A part of them is held up at first, and freed later.
    ///
    /// - Parameter hold: holds the part up by jobs that wait for the semaphore; returns how many there are.
    /// - Returns: the notices while the part was held up, and those after it.
    private func notices(
        _ hold: (EventLoop, ServerGroup, DispatchSemaphore) -> Int
    ) throws -> (held: Int?, freed: Int) {
        let loop = try EventLoop()
        var limits = Limits()
        limits.loopThreads = 2
        let group = try ServerGroup(loop: loop, limits: limits, metrics: Metrics(), methods: MethodSet())
        let semaphore = DispatchSemaphore(value: 0)
        let held = hold(loop, group, semaphore)
        let counts = Counts()
        let watchdog = Watchdog(loop: loop, servers: group, interval: 1) {
            counts.notices += 1
            if counts.noticesWhileHeld != nil { loop.stop() }
        }
        let clock = Timer(on: loop, delay: 1, every: 1) {
            counts.ticks += 1
            if counts.ticks == 50 {
                counts.noticesWhileHeld = counts.notices
                for _ in 0..<held { semaphore.signal() }
            }
            // It would be a watchdog that has given up.
            if counts.ticks == 50_000 { loop.stop() }
        }
        loop.run()
        withExtendedLifetime((watchdog, clock)) {}
        return (counts.noticesWhileHeld, counts.notices - (counts.noticesWhileHeld ?? 0))
    }

    @Test("is not notified while any loop is blocked, and is again afterwards") func loops() throws {
        let (held, freed) = try notices { _, group, semaphore in
            group.onEveryLoop { index in if index == 1 { semaphore.wait() } }
            return 1
        }
        #expect(held == 0)
        #expect(freed > 0)
    }

    @Test("is not notified while the pool is blocked, and is again afterwards") func pool() throws {
        let (held, freed) = try notices { loop, _, semaphore in
            // libuv's own number if the variable is not set. Jobs begin in the order in which they come.
            let threads = getenv("UV_THREADPOOL_SIZE").flatMap { Int(String(cString: $0)) } ?? 4
            for _ in 0..<threads { loop.work({ semaphore.wait() }, completion: {}) }
            return threads
        }
        #expect(held == 0)
        #expect(freed > 0)
    }
}
