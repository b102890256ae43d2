// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Bench

@Suite("What a daemon uses")
struct DaemonUsageTests {
    @Test("the memory and processor time of a process are found")
    func readsTheProcess() {
        let usage = DaemonUsage(process: getpid())
        #expect(usage.memoryBytes > 1 << 20)
        // The system counts in hundredths of a second.
        var sum = 0
        while usage.processorSeconds == 0, sum < 1 << 24 { sum += 1 }
        #expect(usage.processorSeconds > 0)
    }
}
