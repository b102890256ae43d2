// SPDX-License-Identifier: MIT
import Dispatch
import Synchronization
import Testing

@testable import SystemSupport

@Suite("Threads for jobs that read disks")
struct ReadingCrewTests {
    @Test("jobs that never end do not block others", arguments: [1, 2, 8])
    func stalled(_ width: Int) {
        let crew = ReadingCrew(width: width)
        let (hanging, others) = (DispatchSemaphore(value: 0), DispatchGroup())
        for _ in 0..<5 { crew.add { hanging.wait() } }
        for _ in 0..<50 {
            others.enter()
            crew.add { others.leave() }
        }
        others.wait()
        for _ in 0..<5 { hanging.signal() }
        crew.wait()
    }

    @Test("no job begins while the crew is held, and each is done once afterwards")
    func held() {
        let crew = ReadingCrew(width: 1)
        let done = Mutex<[Int]>([])
        crew.hold()
        for number in 0..<100 { crew.add { done.withLock { $0.append(number) } } }
        #expect(done.withLock { $0.isEmpty })
        crew.resume()
        crew.wait()
        #expect(done.withLock { $0.sorted() } == Array(0..<100))
    }

    @Test("a job may add others, and all are done when the wait ends", arguments: [1, 4])
    func nested(_ width: Int) {
        let crew = ReadingCrew(width: width)
        let count = Atomic(0)
        for _ in 0..<20 {
            crew.add {
                count.add(1, ordering: .relaxed)
                for _ in 0..<5 { crew.add { count.add(1, ordering: .relaxed) } }
            }
        }
        crew.wait()
        #expect(count.load(ordering: .relaxed) == 120)
    }
}
