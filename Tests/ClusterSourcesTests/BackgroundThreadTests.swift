// SPDX-License-Identifier: MIT
import Glibc
import Testing

@testable import ClusterSources

@Suite("Threads that stand back")
struct BackgroundThreadTests {
    @Test("Only the thread itself stands back, not the one that started it")
    func standsBackAlone() async {
        let before = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(getpid()))
        let inside = await withCheckedContinuation { continuation in
            BackgroundThread.run {
                continuation.resume(
                    returning: getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
            }
        }
        #expect(inside == max(before, BackgroundThread.niceness))
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(getpid())) == before)
    }
}
