// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Threads for jobs that read disks")
struct DiskThreadsTests {
    @Test("jobs that never end do not block others", arguments: [1, 2, 8])
    func stalled(_ width: Int) {
        let threads = DiskThreads(width: width)
        let (hanging, others) = (DispatchSemaphore(value: 0), DispatchGroup())
        for _ in 0..<5 { threads.add { hanging.wait() } }
        for _ in 0..<50 {
            others.enter()
            threads.add { others.leave() }
        }
        others.wait()
        for _ in 0..<5 { hanging.signal() }
        threads.wait()
    }

    @Test("no job begins while the threads are held, and each is done once afterwards") func held() {
        let threads = DiskThreads(width: 1)
        let done = Mutex<[Int]>([])
        threads.hold()
        for number in 0..<100 { threads.add { done.withLock { $0.append(number) } } }
        #expect(done.withLock { $0.isEmpty })
        threads.resume()
        threads.wait()
        #expect(done.withLock { $0.sorted() } == Array(0..<100))
    }

    @Test("a job may add others, and all are done when the wait ends", arguments: [1, 4]) func nested(_ width: Int) {
        let threads = DiskThreads(width: width)
        let count = Atomic(0)
        for _ in 0..<20 {
            threads.add {
                count.add(1, ordering: .relaxed)
                for _ in 0..<5 { threads.add { count.add(1, ordering: .relaxed) } }
            }
        }
        threads.wait()
        #expect(count.load(ordering: .relaxed) == 120)
    }
}
