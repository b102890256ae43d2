// SPDX-License-Identifier: MIT
import Glibc
import Testing

@testable import Aggregates
@testable import Answers
@testable import SourceStorage
@testable import Sources
@testable import SystemSupport

@Suite("Threads of the background")
struct BackgroundThreadTests {
    private static var niceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

    @Test("Only the thread itself stands back, not the one that started it")
    func standsBackAlone() {
        let before = Self.niceness
        #expect(BackgroundThread.standingBack { Self.niceness } == max(before, BackgroundThread.niceness))
        #expect(Self.niceness == before)
    }

    @Test("A thread that nobody waits for stands back only where it says so")
    func runs() async {
        let before = Self.niceness
        let (outside, inside, after) = await withCheckedContinuation { continuation in
            BackgroundThread.run {
                let outside = Self.niceness
                let inside = BackgroundThread.standingBack { Self.niceness }
                continuation.resume(returning: (outside, inside, Self.niceness))
            }
        }
        #expect(outside == before && after == before)
        #expect(inside == max(before, BackgroundThread.niceness))
    }
}
