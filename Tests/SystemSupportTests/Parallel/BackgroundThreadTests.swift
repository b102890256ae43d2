// SPDX-License-Identifier: MIT
import Glibc
import Testing

@testable import SystemSupport

@Suite("Background threads") struct BackgroundThreadTests {
    private static var niceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

    @Test("low priority applies to the thread itself, not to the one that started it") func priorityOfOneThread() {
        let before = Self.niceness
        #expect(BackgroundThread.atLowPriority { Self.niceness } == max(before, BackgroundThread.niceness))
        #expect(Self.niceness == before)
    }

    @Test("a thread runs at low priority only within atLowPriority") func runs() async {
        let before = Self.niceness
        let (outside, inside, after) = await withCheckedContinuation { continuation in
            BackgroundThread.run {
                let outside = Self.niceness
                let inside = BackgroundThread.atLowPriority { Self.niceness }
                continuation.resume(returning: (outside, inside, Self.niceness))
            }
        }
        #expect(outside == before)
        #expect(after == before)
        #expect(inside == max(before, BackgroundThread.niceness))
    }
}
